// Writes the C++ functions that add nodes, one per op.
#pragma once
#include "troupe/runtime/graph/op.hpp"

#include <string>
#include <vector>

namespace troupe::generate {

/// Returns true if the op gets a generated builder: hidden ops and those written by hand do not.
bool has_builder(const op_def& op);

/// Returns the name of an op's builder: BiasAdd -> bias_add.
std::string builder_name(std::string_view op);

/// Returns the declaration without the options overload, for documents.
std::string builder_signature(const op_def& op);

std::string builders_header(const std::vector<const op_def*>& ops);
std::string builders_source(const std::vector<const op_def*>& ops);

/// Breaks text into lines that start with `prefix` and hold at most 100 columns; keeps paragraphs.
std::string wrapped(std::string_view text, std::string_view prefix);

} // namespace troupe::generate
