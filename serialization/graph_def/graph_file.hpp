// Finds the graph in a file of TensorFlow, which may be a GraphDef, a MetaGraphDef (the .meta file
// of a checkpoint), or a SavedModel.
#pragma once
#include "troupe/serialization/graph_def/graph_def.pb.h"
#include "troupe/serialization/graph_def/saved_model.pb.h"

#include "troupe/runtime/types/status.hpp"

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace troupe::graph_def {

/// Reads the graph; of a SavedModel, the only graph, or the one with the tag "serve". Fails with
/// data_loss for damaged bytes, and with invalid_argument and advice for another known kind of
/// file.
result<GraphDef> parse_graph(std::span<const std::byte> bytes, const std::string& file);

/// The same from the text format.
result<GraphDef> parse_graph_text(std::string_view text, const std::string& file);

/// The index of the graph of a SavedModel with exactly these tags; without tags, the only graph, or
/// the one with the tag "serve".
result<int> choose_graph(const SavedModel& from, std::vector<std::string> tags);

} // namespace troupe::graph_def
