// Runs that command line arguments describe: --feed x=3 --fetch y --target step.
#pragma once
#include "troupe/api/graph_def.hpp"
#include "troupe/serialization/text/text_graph.hpp"

#include <string>
#include <vector>

namespace troupe::cli {

/// The arguments of the command line.
struct run_arguments {
  std::vector<std::string> feeds, fetches, inits, targets, saves;
  std::string out;

  bool selects_anything() const {
    return !(feeds.empty() && fetches.empty() && inits.empty() && targets.empty() &&
             saves.empty() && out.empty());
  }
};

/// Returns the names of all nodes that are fed, fetched or run: "y", "labels:1". Empty if runs_of()
/// would fail because there is nothing to compute.
std::vector<std::string> wanted_names(const run_arguments& arguments);

/// A run, with the name and the file of each of its fetches; no file: the value is printed.
struct run_plan {
  text_run run;
  std::vector<std::string> names = {}, files = {};
};

/// Plans one run for each --init, then one for all other arguments. Throws for unknown names, for
/// values of a wrong type or shape, and if there is nothing to compute. Fetches are looked up in
/// `fetched`, if it is given.
std::vector<run_plan> runs_of(const run_arguments& arguments, const graph_import& in,
                              const graph& model, const graph_import* fetched = nullptr);

} // namespace troupe::cli
