// Conversions between the texts of Cap'n Proto and of the standard library.
#pragma once
#include <capnp/blob.h>
#include <capnp/common.h>

#include <string>
#include <string_view>

namespace troupe {

inline kj::StringPtr as_text(const std::string& text) { return {text.c_str(), text.size()}; }
/// Copies a view to `keep`, which ends it with a zero.
inline kj::StringPtr as_text(std::string_view text, std::string& keep) {
  return as_text(keep = text);
}
inline capnp::Data::Reader as_data(const std::string& text) {
  return {reinterpret_cast<const kj::byte*>(text.data()), text.size()};
}

inline std::string text_of(capnp::Text::Reader text) { return {text.begin(), text.size()}; }
inline std::string text_of(capnp::Data::Reader text) {
  return {reinterpret_cast<const char*>(text.begin()), text.size()};
}

} // namespace troupe
