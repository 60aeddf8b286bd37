// SavedModels of TensorFlow: a folder with a graph, what it computes for whom, its variables and
// its files (docs/graph-def.md).
//
//     FOLDER/saved_model.pb          graphs, each with tags, signatures and how to restore it; or,
//                                    as text, saved_model.pbtxt
//     FOLDER/variables/variables.*   a checkpoint of TensorFlow; of version 1, variables/variables
//     FOLDER/assets/                 files that the graph reads
#pragma once
#include "troupe/serialization/graph_def/graph_def.hpp"
#include "troupe/serialization/storage/file_system.hpp"

#include <map>
#include <span>
#include <string>
#include <vector>

namespace troupe {

/// What a signature says of an input or output.
struct signature_tensor {
  std::string tensor;       ///< its name in the graph: "x:0"
  dtype type = dtype::none; ///< none: one that we do not have, or that the model does not tell
  partial_shape dims = {};
  bool has_type = true; ///< false: the model does not tell it
};

/// A function of the model: what it is given and gives, by the names that its users know. A sparse
/// tensor `x` stands there as `x.values`, `x.indices` and `x.dense_shape`.
struct saved_signature {
  std::map<std::string, signature_tensor> inputs = {}, outputs = {};
  std::string method = {}; ///< "tensorflow/serving/predict"
};

/// One of the graphs of a SavedModel.
struct saved_graph_info {
  std::vector<std::string> tags;
  std::map<std::string, saved_signature> signatures;
};

/// Says what is in a SavedModel, without its graphs. Fails with not_found where the folder has no
/// saved_model.pb or .pbtxt, and with data_loss for a damaged one.
TROUPE_API result<std::vector<saved_graph_info>> list_saved_model(file_system& files,
                                                                  const std::string& folder);

struct saved_model_options {
  /// Which of the graphs: the one with just these tags. Empty: the only one, or "serve".
  std::vector<std::string> tags = {};
  /// The only signature that is read, where the model has it; empty: all.
  std::string signature = {};
  /// Likewise of its constants: graph_def_options::filled_bytes.
  size_t filled_bytes = size_t{1} << 30;
};

/// A graph of a SavedModel that has been added to another.
struct imported_saved_model {
  imported_graph graph;
  saved_graph_info info;
  /// What to run before anything else, in this order, each in a step of its own: variables are
  /// restored by the tasks that they are on, which must see the folder; tables are filled.
  std::vector<node*> initializers;
};

/// Adds what the signatures of a SavedModel and its initializers need, as read_graph_def() does;
/// nodes for training are left out. File names in it become those below `folder`.
TROUPE_API result<imported_saved_model> read_saved_model(file_system& files,
                                                         const std::string& folder, graph& into,
                                                         const saved_model_options& options = {});

/// What to write.
struct saved_model_contents {
  struct signature {
    std::map<std::string, edge> inputs = {}, outputs = {};
    std::string method = "tensorflow/serving/predict";
  };
  struct variable {
    edge made;              ///< by an op that makes variables
    std::string name = {};  ///< in the checkpoint
    std::string slice = {}; ///< such as "4 5 0,2:-", of a partitioned variable; else empty
  };
  struct asset {
    edge tensor;      ///< a constant or placeholder of a string: the file's name
    std::string file; ///< its name in the folder "assets"
  };
  std::map<std::string, signature> signatures = {};
  std::vector<variable> variables = {};
  std::vector<asset> assets = {};
  node* initializer = nullptr; ///< to be run after the variables are restored: it fills tables
  std::vector<node*> local_initializers = {}; ///< to be run with it: of what is not saved
  std::vector<std::string> tags = {"serve"};
};

/// The bytes of saved_model.pb: what the signatures, variables and initializer need of a graph, and
/// nodes that save and restore, as TensorFlow's Saver has them. Both its loaders, of the first API
/// and of the second, read it. Fails as write_graph_def() does.
TROUPE_API result<std::string> write_saved_model(const graph& of, const saved_model_contents& what);

/// The prefix of its checkpoint, and the folder of its files.
std::string saved_variables_path(const std::string& folder);
std::string saved_assets_path(const std::string& folder);

} // namespace troupe
