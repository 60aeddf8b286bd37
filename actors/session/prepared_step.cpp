#include "troupe/actors/session/prepared_step.hpp"

#include "troupe/actors/base/session_messages.hpp"
#include "troupe/runtime/passes/extract.hpp"

#include <caf/send.hpp>

namespace troupe {

namespace {

std::vector<std::vector<size_t>> partners_of(const std::vector<participant>& participants) {
  std::vector<std::vector<size_t>> partners;
  for (const auto& participant : participants)
    partners.push_back(participant.partners);
  return partners;
}

} // namespace

prepared_step::prepared_step(std::vector<participant> parts_by_task, step_interface interface,
                             size_t max_concurrent)
    : interface(std::move(interface)), gate(max_concurrent), participants(std::move(parts_by_task)),
      registration_state(partners_of(participants)) {}

prepared_step::~prepared_step() {
  for (const auto& participant : participants)
    if (participant.worker && participant.handle != 0)
      caf::anon_send(participant.worker, forget_program{participant.handle});
}

std::shared_ptr<prepared_step> current(std::shared_ptr<prepared_step> step) {
  auto last = step;
  while (last->replacement)
    last = last->replacement;
  if (last != step) // releases the steps between
    step->replacement = last;
  return last;
}

status queue_timeout(const step_gate& gate) {
  return failure(error_kind::deadline_exceeded,
                 "the step waited for a free slot until its deadline: max_concurrent_steps steps "
                 "are running, and ",
                 gate.waiting(), " are queued");
}

step_interface step_interface::of(const step_signature& signature) {
  step_interface interface;
  for (const auto& edge : signature.feeds)
    interface.feeds.push_back({edge.node->description(), edge.type(), edge.dims()});
  interface.fetches = signature.fetches.size();
  return interface;
}

status step_interface::check(std::span<const tensor> values) const {
  if (values.size() != feeds.size())
    return invalid("the step has ", feeds.size(), " feeds, got ", values.size());
  for (size_t i = 0; i < values.size(); ++i) {
    const auto& wanted = feeds[i];
    if (values[i].type() != wanted.type || !wanted.dims.compatible(values[i].dims()))
      return invalid(wanted.description, ": must be fed with ", wanted.type, wanted.dims, ", got ",
                     values[i].type(), values[i].dims());
  }
  return {};
}

std::vector<known_peer> prepared_step::state_holders() const {
  std::vector<known_peer> holders;
  for (const auto& participant : participants)
    if (participant.has_state && participant.incarnation != 0)
      holders.push_back({to_string(participant.task), participant.incarnation});
  return holders;
}

result<prepare_request> prepare_request::make(const graph& nodes, const step_signature& signature,
                                              step_clock::time_point deadline) {
  TROUPE_ASSIGN(auto closed, extract(nodes, signature));
  auto interface = step_interface::of(signature);
  interface.graph = nodes.id();
  return prepare_request{std::make_shared<step_graph>(std::move(closed)), std::move(interface),
                         deadline, signature.low_priority};
}

} // namespace troupe
