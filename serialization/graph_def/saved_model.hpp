// SavedModels of TensorFlow: a folder with graphs, their signatures, variables and files
// (docs/graph-def.md).
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

/// An input or output of a signature.
struct signature_tensor {
  std::string tensor;       ///< the name in the graph: "x:0"
  dtype type = dtype::none; ///< none: a type that Troupe does not have, or that is not stated
  partial_shape dims = {};
  bool has_type = true; ///< whether the model states the type
};

/// A function of the model: inputs and outputs by their public names. A sparse tensor `x` is listed
/// as `x.values`, `x.indices` and `x.dense_shape`.
struct saved_signature {
  std::map<std::string, signature_tensor> inputs = {}, outputs = {};
  std::string method = {}; ///< "tensorflow/serving/predict"
};

/// One of the graphs of a SavedModel.
struct saved_graph_info {
  std::vector<std::string> tags;
  std::map<std::string, saved_signature> signatures;
};

/// Lists the graphs of a SavedModel, without reading them. Fails with not_found if the folder has
/// no saved_model.pb or .pbtxt, and with data_loss for a damaged file.
TROUPE_API result<std::vector<saved_graph_info>> list_saved_model(file_system& files,
                                                                  const std::string& folder);

struct saved_model_options {
  /// Selects the graph with exactly these tags. Empty: the only graph, or "serve".
  std::vector<std::string> tags = {};
  /// The only signature to read, if the model has it; empty: all.
  std::string signature = {};
  /// The limit of its constants, as graph_def_options::filled_bytes.
  size_t filled_bytes = size_t{1} << 30;
};

/// A graph of a SavedModel that was added to another graph.
struct imported_saved_model {
  imported_graph graph;
  saved_graph_info info;
  /// The nodes to run first, in this order, each in a step of its own. Variables are restored by
  /// the tasks that own them, which must be able to read the folder; tables are filled.
  std::vector<node*> initializers;
};

/// Adds the nodes that the signatures of a SavedModel and its initializers need, as
/// read_graph_def() does; nodes for training are left out. File names become those below `folder`.
TROUPE_API result<imported_saved_model> read_saved_model(file_system& files,
                                                         const std::string& folder, graph& target,
                                                         const saved_model_options& options = {});

/// The content of a SavedModel to write.
struct saved_model_contents {
  struct signature {
    std::map<std::string, edge> inputs = {}, outputs = {};
    std::string method = "tensorflow/serving/predict";
  };
  struct variable {
    edge output;            ///< of an op that makes variables
    std::string name = {};  ///< in the checkpoint
    std::string slice = {}; ///< of a partitioned variable, such as "4 5 0,2:-"; else empty
  };
  struct asset {
    edge tensor;      ///< a constant or placeholder of a string: the name of the file
    std::string file; ///< the name in the folder "assets"
  };
  std::map<std::string, signature> signatures = {};
  std::vector<variable> variables = {};
  std::vector<asset> assets = {};
  node* initializer = nullptr; ///< runs after the variables are restored; fills tables
  std::vector<node*> local_initializers = {}; ///< run with it; for state that is not saved
  std::vector<std::string> tags = {"serve"};
};

/// Returns the bytes of saved_model.pb: the nodes that the signatures, variables and initializer
/// need, and nodes that save and restore, as TensorFlow's Saver makes them. The loaders of both
/// TensorFlow APIs, 1 and 2, can read it. Fails as write_graph_def() does.
TROUPE_API result<std::string> write_saved_model(const graph& source,
                                                 const saved_model_contents& contents);

/// The prefix of the checkpoint, and the folder of the assets.
std::string saved_variables_path(const std::string& folder);
std::string saved_assets_path(const std::string& folder);

} // namespace troupe
