// Protobuf's text format, read as strictly as TensorFlow reads it: a field that a message does not
// have is an error with its place. Fields of TensorFlow's that Troupe has no use for are `reserved`
// in the schemas and skipped.
#pragma once
#include "troupe/runtime/types/status.hpp"

#include <google/protobuf/message.h>

#include <string>
#include <string_view>

namespace troupe::graph_def {

/// Reads a message. Errors start with `file:line:column`.
status parse_text(std::string_view text, const std::string& file, google::protobuf::Message& to);

/// The name of the first field of a text, such as "node"; empty where none begins.
std::string_view first_field(std::string_view text);

} // namespace troupe::graph_def
