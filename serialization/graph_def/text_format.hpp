// Protobuf's text format, as strict as in TensorFlow: an unknown field is an error with its
// position. Fields of TensorFlow that Troupe does not use are `reserved` in the schemas and
// skipped.
#pragma once
#include "troupe/runtime/types/status.hpp"

#include <google/protobuf/message.h>

#include <string>
#include <string_view>

namespace troupe::graph_def {

/// Parses a message. Errors start with `file:line:column`.
status parse_text(std::string_view text, const std::string& file,
                  google::protobuf::Message& message);

/// The name of the first field of a text, such as "node"; empty if there is none.
std::string_view first_field(std::string_view text);

} // namespace troupe::graph_def
