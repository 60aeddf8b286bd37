#include "troupe/actors/session/prepared_step.hpp"

#include "troupe/actors/base/session_messages.hpp"
#include "troupe/runtime/passes/extract.hpp"

#include <caf/send.hpp>

namespace troupe {

namespace {

std::vector<std::vector<size_t>> partners_of(const std::vector<participant>& all) {
  std::vector<std::vector<size_t>> made;
  for (const auto& one : all)
    made.push_back(one.partners);
  return made;
}

} // namespace

prepared_step::prepared_step(std::vector<participant> all, step_interface interface,
                             size_t max_concurrent)
    : outside(std::move(interface)), gate(max_concurrent), participants(std::move(all)),
      parts(partners_of(participants)) {}

prepared_step::~prepared_step() {
  for (const auto& one : participants)
    if (one.worker && one.handle != 0)
      caf::anon_send(one.worker, forget_program{one.handle});
}

std::shared_ptr<prepared_step> current(std::shared_ptr<prepared_step> of) {
  auto last = of;
  while (last->moved)
    last = last->moved;
  if (last != of) // those between are not needed any more
    of->moved = last;
  return last;
}

status waited_in_line(const step_gate& gate) {
  return failure(error_kind::deadline_exceeded,
                 "the step was not let in in time: as many as may run "
                 "at once do, and ",
                 gate.waiting(), " wait in line");
}

step_interface step_interface::of(const step_signature& signature) {
  step_interface made;
  for (const auto& one : signature.feeds)
    made.feeds.push_back({one.node->description(), one.type(), one.dims()});
  made.fetches = signature.fetches.size();
  return made;
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

std::vector<known_peer> prepared_step::held() const {
  std::vector<known_peer> found;
  for (const auto& one : participants)
    if (one.has_state && one.incarnation != 0)
      found.push_back({to_string(one.task), one.incarnation});
  return found;
}

result<prepare_request> prepare_request::make(const graph& of, const step_signature& signature,
                                              step_clock::time_point deadline) {
  TROUPE_ASSIGN(auto closed, extract(of, signature));
  auto outside = step_interface::of(signature);
  outside.graph = of.id();
  return prepare_request{std::make_shared<step_graph>(std::move(closed)), std::move(outside),
                         deadline, signature.low_priority};
}

} // namespace troupe
