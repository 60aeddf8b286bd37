// The graph in a file of TensorFlow's, whichever of its messages the file is: a GraphDef, a
// MetaGraphDef (the .meta of a checkpoint), or a SavedModel.
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

/// Reads the graph; of a SavedModel, the only one, or the one for serving. Fails with data_loss for
/// damaged bytes, and with invalid_argument for a file of another kind that is known, with what to
/// give instead.
result<GraphDef> parse_graph(std::span<const std::byte> bytes, const std::string& file);

/// The same from text.
result<GraphDef> parse_graph_text(std::string_view text, const std::string& file);

/// Which graph of a SavedModel has just these tags; with none, the only one, or "serve".
result<int> choose_graph(const SavedModel& from, std::vector<std::string> tags);

} // namespace troupe::graph_def
