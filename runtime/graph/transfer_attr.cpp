#include "troupe/runtime/graph/transfer_attr.hpp"

namespace troupe {
namespace {

std::optional<f32_transfer> read(const attr_value& value) {
  if (const auto* text = value.get_if<std::string>())
    for (auto transfer : {f32_transfer::exact, f32_transfer::truncated, f32_transfer::rounded})
      if (*text == to_string(transfer))
        return transfer;
  return {};
}

} // namespace

std::string_view to_string(f32_transfer transfer) noexcept {
  switch (transfer) {
    case f32_transfer::exact: return "exact";
    case f32_transfer::truncated: return "truncated";
    case f32_transfer::rounded: return "rounded";
  }
  return "unknown";
}

std::optional<f32_transfer> transfer_of(const node& sender) {
  auto found_attr = sender.attrs().find(transfer_attr);
  return found_attr == sender.attrs().end() ? std::nullopt : read(found_attr->second);
}

attr_map transfer_attr_of(const node& sender) {
  attr_map attrs;
  if (auto found_attr = sender.attrs().find(transfer_attr); found_attr != sender.attrs().end())
    attrs.insert(*found_attr);
  return attrs;
}

status check_transfer(const attr_value& value) {
  if (read(value))
    return {};
  return invalid("attribute ", transfer_attr, " must be \"exact\", \"truncated\" or \"rounded\"");
}

} // namespace troupe
