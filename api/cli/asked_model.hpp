// SavedModels on the command line: troupe run FOLDER --signature serving_default --feed x=3.
#pragma once
#include "troupe/api/cli/asked_run.hpp"

#include <string>

namespace troupe::cli {

/// Which function of a SavedModel.
struct asked_model {
  std::string signature; ///< empty: the only one, or serving_default
  std::string tags;      ///< separated by commas; empty: the only graph, or that for serving
};

/// Whether the path is a folder with a SavedModel.
bool is_saved_model(const std::string& path);

/// The folder of a SavedModel where the path is that of its graph, saved_model.pb; else the path.
std::string folder_of_model(const std::string& path);

/// The signatures, with types and shapes of what they take and give: a line for each.
std::string list_signatures(const std::string& folder);

/// Reads the words, whose names are those of the signature: a run for each initializer of the
/// model, then as runs_of(). Fetches all that the signature gives where nothing is asked for.
std::vector<asked_run> runs_of_model(const std::string& folder, const asked_model& which,
                                     asked words, graph_builder& to);

} // namespace troupe::cli
