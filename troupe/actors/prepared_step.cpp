#include "troupe/actors/prepared_step.hpp"

#include "troupe/actors/session_messages.hpp"
#include "troupe/runtime/passes/extract.hpp"

#include <caf/send.hpp>

namespace troupe {

prepared_step::~prepared_step() {
  for (const auto& one : participants)
    if (one.worker)
      caf::anon_send(one.worker, forget_program{one.handle});
}

status waited_in_line(const step_gate& gate) {
  return failure(error_kind::deadline_exceeded,
                 "the step was not let in in time: as many as may run "
                 "at once do, and ",
                 gate.waiting(), " wait in line");
}

status check_feeds(const step_signature& signature, std::span<const tensor> feeds) {
  if (feeds.size() != signature.feeds.size())
    return invalid("the step has ", signature.feeds.size(), " feeds, got ", feeds.size());
  for (size_t i = 0; i < feeds.size(); ++i) {
    const auto& wanted = signature.feeds[i];
    if (feeds[i].type() != wanted.type() || !wanted.dims().compatible(feeds[i].dims()))
      return invalid(wanted.node->description(), ": must be fed with ", wanted.type(),
                     wanted.dims(), ", got ", feeds[i].type(), feeds[i].dims());
  }
  return {};
}

result<prepare_request> prepare_request::make(const graph& of, step_signature signature,
                                              step_clock::time_point deadline) {
  TROUPE_ASSIGN(auto closed, extract(of, signature));
  return prepare_request{std::make_shared<step_graph>(std::move(closed)), std::move(signature),
                         deadline};
}

} // namespace troupe
