// SavedModels on the command line: troupe run FOLDER --signature serving_default --feed x=3.
#pragma once
#include "troupe/api/cli/requested_run.hpp"

#include <string>

namespace troupe::cli {

/// The arguments that select a function of a SavedModel.
struct model_arguments {
  std::string signature; ///< empty: the only one, or serving_default
  std::string tags;      ///< separated by commas; empty: the only graph, or that for serving
};

/// Returns true if the path is a folder with a SavedModel.
bool is_saved_model(const std::string& path);

/// Returns the folder of a SavedModel if the path is that of its graph, saved_model.pb; else the
/// path.
std::string folder_of_model(const std::string& path);

/// Lists the signatures, with types and shapes of inputs and outputs: a line for each.
std::string list_signatures(const std::string& folder);

/// Plans a run for each initializer of the model, then those of runs_of(). Names are those of the
/// signature. Fetches all outputs of the signature if the arguments select nothing.
std::vector<run_plan> runs_of_model(const std::string& folder, const model_arguments& selection,
                                    run_arguments arguments, graph_builder& to);

} // namespace troupe::cli
