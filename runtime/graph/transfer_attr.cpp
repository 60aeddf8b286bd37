#include "troupe/runtime/graph/transfer_attr.hpp"

namespace troupe {
namespace {

std::optional<f32_transfer> read(const attr_value& value) {
  if (const auto* text = value.get_if<std::string>())
    for (auto how : {f32_transfer::exact, f32_transfer::truncated, f32_transfer::rounded})
      if (*text == to_string(how))
        return how;
  return {};
}

} // namespace

std::string_view to_string(f32_transfer how) noexcept {
  switch (how) {
    case f32_transfer::exact: return "exact";
    case f32_transfer::truncated: return "truncated";
    case f32_transfer::rounded: return "rounded";
  }
  return "unknown";
}

std::optional<f32_transfer> transfer_of(const node& which) {
  auto it = which.attrs().find(transfer_attr);
  return it == which.attrs().end() ? std::nullopt : read(it->second);
}

attr_map transfer_attr_of(const node& which) {
  attr_map made;
  if (auto it = which.attrs().find(transfer_attr); it != which.attrs().end())
    made.insert(*it);
  return made;
}

status check_transfer(const attr_value& value) {
  if (read(value))
    return {};
  return invalid("attribute ", transfer_attr, " must be \"exact\", \"truncated\" or \"rounded\"");
}

} // namespace troupe
