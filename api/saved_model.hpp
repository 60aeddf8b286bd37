// SavedModels: graphs of TensorFlow with their variables and files, ready to run
// (docs/graph-def.md).
#pragma once
#include "troupe/api/graph_def.hpp"
#include "troupe/api/session.hpp"
#include "troupe/runtime/export.hpp"
#include "troupe/serialization/graph_def/saved_model.hpp"

#include <map>
#include <source_location>
#include <string>
#include <string_view>
#include <vector>

namespace troupe {

/// A function of a model: the placeholders to feed and the edges to fetch, by the names in the
/// signature.
using model_signature = saved_model_contents::signature;

class saved_model;

/// Adds the nodes that the signatures of a SavedModel need, in the builder's scope and on its
/// device. Throws for a graph that Troupe cannot run, listing all unsupported ops.
TROUPE_API saved_model load_saved_model(graph_builder& to, const std::string& folder,
                                        const saved_model_options& options = {});

/// A SavedModel in a graph. Throws troupe::error. Valid as long as its graph.
class TROUPE_API saved_model {
public:
  using location = std::source_location;

  const std::map<std::string, model_signature>& signatures() const noexcept { return signatures_; }
  /// Throws if there is no such signature, suggesting names that exist.
  const model_signature& signature(std::string_view name = "serving_default",
                                   location where = location::current()) const;
  /// Returns any other edge that the signatures need, by its name in the file.
  edge operator[](std::string_view name) const { return nodes_[name]; }

  /// Restores the variables and initializes the tables, in a session that has not run the model
  /// yet. The tasks that hold them read the files: they must see the folder by the same path.
  void initialize(session& in, location where = location::current()) const;
  /// The nodes that initialize() runs, in this order, each in a step of its own.
  const std::vector<node*>& initializers() const noexcept { return initializers_; }

private:
  friend saved_model load_saved_model(graph_builder&, const std::string&,
                                      const saved_model_options&);
  explicit saved_model(imported_saved_model imported);

  graph_import nodes_;
  std::map<std::string, model_signature> signatures_;
  std::vector<node*> initializers_;
};

struct save_model_options {
  std::map<std::string, model_signature> signatures = {};
  /// Files that the graph reads: the constant or placeholder with the file's name, and the file's
  /// present path. The names must differ.
  std::vector<std::pair<edge, std::string>> assets = {};
  node* initializer = nullptr; ///< initializes tables; runs after the variables are restored
  std::vector<std::string> tags = {"serve"};
};

/// Writes a SavedModel that TensorFlow's loaders (and load_saved_model) run: the nodes that the
/// signatures need, with the values that its variables have in the session, read in one step.
/// `folder` must be empty, or not exist. Throws if the graph cannot be written as TensorFlow's
/// (export_graph_def).
TROUPE_API void save_saved_model(session& in, const graph& model, const std::string& folder,
                                 const save_model_options& options,
                                 std::source_location where = std::source_location::current());

} // namespace troupe
