// Runs that the command line asks for: --feed x=3 --fetch y --target step.
#pragma once
#include "troupe/api/graph_def.hpp"
#include "troupe/serialization/text/text_graph.hpp"

#include <string>
#include <vector>

namespace troupe::cli {

/// The words of the command line.
struct asked {
  std::vector<std::string> feeds, fetches, inits, targets, saves;
  std::string out;

  bool anything() const {
    return !(feeds.empty() && fetches.empty() && inits.empty() && targets.empty() &&
             saves.empty() && out.empty());
  }
};

/// The names of all nodes that are fed, fetched or run: "y", "labels:1". None where runs_of() would
/// fail, as there is nothing to compute.
std::vector<std::string> wanted_names(const asked& words);

/// A run, and for each of its fetches how it is called and which file it goes to, if any.
struct asked_run {
  text_run run;
  std::vector<std::string> names = {}, files = {};
};

/// Reads the words: a run of its own for each --init, then one for all the rest. Throws for names
/// that are not there, values that do not fit, and if there is nothing to compute. Fetches are
/// looked up in `fetched`, if it is given.
std::vector<asked_run> runs_of(const asked& words, const graph_import& in, const graph& all,
                               const graph_import* fetched = nullptr);

} // namespace troupe::cli
