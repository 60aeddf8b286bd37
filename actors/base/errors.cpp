#include "troupe/actors/base/errors.hpp"

#include <caf/atom.hpp>
#include <caf/exit_reason.hpp>
#include <caf/message.hpp>
#include <caf/sec.hpp>

#include <cctype>

namespace troupe {
namespace {

constexpr auto category = caf::atom("troupe");

} // namespace

caf::error to_caf(const status& outcome) {
  const auto& origin = outcome.origin();
  return caf::error{static_cast<uint8_t>(outcome.kind()), category,
                    caf::make_message(outcome.message(), origin.op, origin.node, origin.task,
                                      origin.incarnation, origin.state_lost)};
}

status from_caf(const caf::error& caf_error) {
  if (!caf_error)
    return {};
  if (caf_error.category() == category) {
    auto kind = static_cast<error_kind>(caf_error.code());
    const auto& context = caf_error.context();
    using std::string;
    if (!context.match_elements<string, string, string, string, uint64_t, bool>())
      return status{kind, {}};
    auto read = status{kind, context.get_as<string>(0)}
                    .with_origin(context.get_as<string>(1), context.get_as<string>(2))
                    .with_task(context.get_as<string>(3))
                    .with_incarnation(context.get_as<uint64_t>(4));
    return context.get_as<bool>(5) ? std::move(read).with_lost_state() : read;
  }
  if (caf_error == caf::sec::request_timeout)
    return failure(error_kind::deadline_exceeded, "no answer in time");
  if (caf_error == caf::sec::request_receiver_down ||
      caf_error == caf::sec::cannot_connect_to_node || caf_error.category() == caf::atom("exit"))
    return failure(error_kind::unavailable, "the actor terminated before it answered (",
                   int{caf_error.code()}, ')');
  return failure(error_kind::internal, "CAF error ", caf::to_string(caf_error.category()), ':',
                 int{caf_error.code()});
}

bool mentions_task(std::string_view text, std::string_view task) {
  for (auto position = text.find(task); position != text.npos;
       position = text.find(task, position + 1))
    if (auto end = position + task.size();
        end == text.size() || !std::isdigit(static_cast<unsigned char>(text[end])))
      return true;
  return false;
}

} // namespace troupe
