// Encodes TensorFlow's message Summary, the data of a step for TensorBoard.
#pragma once
#include "troupe/ops/parsing/shared/proto_writer.hpp"
#include "troupe/runtime/graph/kernel.hpp"

namespace troupe::ops {

/// Field numbers.
namespace summary_field {
inline constexpr int value = 1; // of Summary
// of Summary.Value
inline constexpr int tag = 1, number = 2, image = 4, histogram = 5, audio = 6, node_name = 7,
                     tensor = 8, metadata = 9;
} // namespace summary_field

/// Adds a value with a tag and `content`, whose fields follow the tag.
inline void put_summary_value(std::string& to, std::string_view tag, std::string_view content) {
  std::string value;
  value.reserve(tag.size() + content.size() + 8);
  if (!tag.empty())
    put_bytes(value, summary_field::tag, tag);
  value += content;
  put_bytes(to, summary_field::value, value);
}

inline status put_summary_output(kernel_context& at, std::string summary) {
  TROUPE_ASSIGN(auto* out, at.allocate(0, shape{}));
  *out->data<std::string>() = std::move(summary);
  return {};
}

/// The tag of the i-th of several images or sounds, of which there may be `max_outputs`:
/// "digits/image/2".
inline std::string tag_of(std::string_view tag, std::string_view kind, int64_t i,
                          int64_t max_outputs) {
  return max_outputs > 1 ? concat(tag, '/', kind, '/', i) : concat(tag, '/', kind);
}

} // namespace troupe::ops
