// SavedModels: graphs of TensorFlow with their variables and files, ready to be run
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

/// A function of a model: placeholders that are fed, and edges to fetch, by the names that its
/// users know.
using model_signature = saved_model_contents::signature;

class saved_model;

/// Adds what the signatures of a SavedModel need, in the builder's scope and on its device. Throws
/// for a graph that Troupe cannot run, with all the ops it lacks.
TROUPE_API saved_model load_saved_model(graph_builder& to, const std::string& folder,
                                        const saved_model_options& options = {});

/// A SavedModel in a graph. Throws troupe::error. Valid as long as its graph.
class TROUPE_API saved_model {
public:
  using location = std::source_location;

  const std::map<std::string, model_signature>& signatures() const noexcept { return signatures_; }
  /// Proposes names that exist where there is no such signature.
  const model_signature& signature(std::string_view name = "serving_default",
                                   location where = location::current()) const;
  /// Any other node that the signatures need, by its name in the file.
  edge operator[](std::string_view name) const { return nodes_[name]; }

  /// Restores the variables and fills the tables, in a session that has not run the model yet. The
  /// tasks that hold them read the files: they must see the folder by the same path.
  void initialize(session& in, location where = location::current()) const;
  /// What initialize() runs, in this order, each in a step of its own.
  const std::vector<node*>& initializers() const noexcept { return initializers_; }

private:
  friend saved_model load_saved_model(graph_builder&, const std::string&,
                                      const saved_model_options&);
  explicit saved_model(imported_saved_model from);

  graph_import nodes_;
  std::map<std::string, model_signature> signatures_;
  std::vector<node*> initializers_;
};

struct save_model_options {
  std::map<std::string, model_signature> signatures = {};
  /// Files that the graph reads: the constant or placeholder of its name, and where it lies now.
  /// Their names must differ.
  std::vector<std::pair<edge, std::string>> assets = {};
  node* initializer = nullptr; ///< what fills tables, to be run when the variables are restored
  std::vector<std::string> tags = {"serve"};
};

/// Writes a SavedModel that TensorFlow's loaders (and load_saved_model) run: what the signatures
/// need, with the values that its variables have in the session, as of one step. `folder` must be
/// empty, or not be there. Throws where it cannot be written as TensorFlow's (export_graph_def).
TROUPE_API void save_saved_model(session& in, const graph& of, const std::string& folder,
                                 const save_model_options& options,
                                 std::source_location where = std::source_location::current());

} // namespace troupe
