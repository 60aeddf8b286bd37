#include "troupe/actors/errors.hpp"

#include <caf/atom.hpp>
#include <caf/exit_reason.hpp>
#include <caf/message.hpp>
#include <caf/sec.hpp>

namespace troupe {
namespace {

constexpr auto category = caf::atom("troupe");

} // namespace

caf::error to_caf(const status& what) {
  return caf::error{static_cast<uint8_t>(what.kind()), category, caf::make_message(what.message())};
}

status from_caf(const caf::error& what) {
  if (!what)
    return {};
  if (what.category() == category)
    return status{static_cast<error_kind>(what.code()), what.context().match_elements<std::string>()
                                                            ? what.context().get_as<std::string>(0)
                                                            : std::string{}};
  if (what == caf::sec::request_timeout)
    return failure(error_kind::deadline_exceeded, "no answer in time");
  if (what == caf::sec::request_receiver_down || what == caf::sec::cannot_connect_to_node ||
      what.category() == caf::atom("exit"))
    return failure(error_kind::unavailable, "an actor that was asked is gone (", int{what.code()},
                   ')');
  return failure(error_kind::internal, "CAF error ", caf::to_string(what.category()), ':',
                 int{what.code()});
}

} // namespace troupe
