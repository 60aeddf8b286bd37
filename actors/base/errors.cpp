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

caf::error to_caf(const status& what) {
  const auto& of = what.origin();
  return caf::error{
      static_cast<uint8_t>(what.kind()), category,
      caf::make_message(what.message(), of.op, of.node, of.task, of.incarnation, of.state_lost)};
}

status from_caf(const caf::error& what) {
  if (!what)
    return {};
  if (what.category() == category) {
    auto kind = static_cast<error_kind>(what.code());
    const auto& text = what.context();
    using std::string;
    if (!text.match_elements<string, string, string, string, uint64_t, bool>())
      return status{kind, {}};
    auto read = status{kind, text.get_as<string>(0)}
                    .about(text.get_as<string>(1), text.get_as<string>(2))
                    .on_task(text.get_as<string>(3))
                    .of_incarnation(text.get_as<uint64_t>(4));
    return text.get_as<bool>(5) ? std::move(read).of_lost_state() : read;
  }
  if (what == caf::sec::request_timeout)
    return failure(error_kind::deadline_exceeded, "no answer in time");
  if (what == caf::sec::request_receiver_down || what == caf::sec::cannot_connect_to_node ||
      what.category() == caf::atom("exit"))
    return failure(error_kind::unavailable, "an actor that was asked is gone (", int{what.code()},
                   ')');
  return failure(error_kind::internal, "CAF error ", caf::to_string(what.category()), ':',
                 int{what.code()});
}

bool names_task(std::string_view text, std::string_view task) {
  for (auto at = text.find(task); at != text.npos; at = text.find(task, at + 1))
    if (auto end = at + task.size();
        end == text.size() || !std::isdigit(static_cast<unsigned char>(text[end])))
      return true;
  return false;
}

} // namespace troupe
