#include "troupe/runtime/graph/registry.hpp"
#include "troupe/serialization/graph_def/saved_model.hpp"
#include "troupe/serialization/graph_def/saved_model.pb.h"
#include "troupe/serialization/graph_def/values.hpp"

#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/io/zero_copy_stream_impl_lite.h>

#include <climits>
#include <set>
#include <unordered_map>

namespace troupe {
namespace {

using namespace graph_def;

// Copies the needed nodes of a graph, and adds nodes that save and restore its variables.
class model_graph {
public:
  explicit model_graph(const graph& source) : nodes_(source.ops()) {}

  graph& nodes() { return nodes_; }

  // Copies a node and all nodes that it needs, each after its inputs.
  result<node*> copy(node& original) {
    std::vector<node*> open{&original};
    while (!open.empty()) {
      auto& next = *open.back();
      if (copies_.contains(&next)) {
        open.pop_back();
        continue;
      }
      auto open_count = open.size();
      auto need = [&](node* input_node) {
        if (!copies_.contains(input_node))
          open.push_back(input_node);
      };
      for (const auto& input : next.inputs())
        need(input.node);
      for (auto* input_node : next.controls())
        need(input_node);
      if (open.size() > open_count) {
        if (!visited_.insert(&next).second)
          return failure(error_kind::invalid_argument, next.description(),
                         ": waits for itself, by control edges");
        continue;
      }
      std::vector<edge> inputs;
      for (const auto& input : next.inputs())
        inputs.push_back({copies_.at(input.node), input.index});
      std::vector<node*> controls;
      for (auto* input_node : next.controls())
        controls.push_back(copies_.at(input_node));
      copies_[&next] = nodes_.add_copy(next, std::move(inputs), std::move(controls));
      open.pop_back();
    }
    return copies_.at(&original);
  }

  result<edge> copy(edge original) {
    TROUPE_ASSIGN(auto* copied, copy(*original.node));
    return edge{copied, original.index};
  }

  result<node*> add(std::string op, std::string name, std::vector<edge> inputs, attr_map attrs = {},
                    std::vector<node*> controls = {}) {
    node_spec spec;
    spec.op = std::move(op);
    spec.name = std::move(name);
    spec.inputs = std::move(inputs);
    spec.attrs = std::move(attrs);
    spec.controls = std::move(controls);
    return nodes_.add(std::move(spec));
  }

  result<edge> constant(std::string name, tensor value) {
    auto type = value.type();
    TROUPE_ASSIGN(auto* added,
                  add("Const", std::move(name), {},
                      {{"value", attr_value{std::move(value)}}, {"dtype", attr_value{type}}}));
    return edge{added, 0};
  }

private:
  graph nodes_;
  std::unordered_map<const node*, node*> copies_;
  std::set<const node*> visited_;
};

tensor vector_of(const std::vector<std::string>& texts) {
  return tensor::vector<std::string>(texts);
}

void describe_tensor(edge described, TensorInfo& to) {
  to.set_name(concat(described.node->name(), ':', described.index));
  to.set_dtype(to_proto(described.type()));
  *to.mutable_tensor_shape() = to_proto(described.dims());
}

// Adds the nodes that TensorFlow's Saver makes.
status add_saver(model_graph& model, const std::vector<saved_model_contents::variable>& variables,
                 SaverDef& saver) {
  if (variables.empty())
    return {};
  std::vector<std::string> names, slices;
  std::vector<dtype> types;
  std::vector<edge> inputs{{}, {}, {}};
  for (const auto& saved_variable : variables) {
    names.push_back(saved_variable.name);
    slices.push_back(saved_variable.slice);
    types.push_back(saved_variable.output.type());
    TROUPE_ASSIGN(auto copied, model.copy(saved_variable.output));
    inputs.push_back(copied);
  }
  std::string scope = "save";
  for (int i = 1; model.nodes().find(scope + "/Const") || model.nodes().find(scope + "/SaveV2");
       ++i)
    scope = concat("save_", i);
  TROUPE_ASSIGN(auto preset,
                model.constant(scope + "/filename", tensor::scalar<std::string>("model")));
  TROUPE_ASSIGN(auto* file, model.add("PlaceholderWithDefault", scope + "/Const", {preset},
                                      {{"shape", attr_value{partial_shape{shape{}}}}}));
  TROUPE_ASSIGN(auto save_names, model.constant(scope + "/SaveV2/tensor_names", vector_of(names)));
  TROUPE_ASSIGN(auto save_slices,
                model.constant(scope + "/SaveV2/shape_and_slices", vector_of(slices)));
  inputs[0] = {file, 0};
  inputs[1] = save_names;
  inputs[2] = save_slices;
  TROUPE_ASSIGN(auto* save, model.add("SaveV2", scope + "/SaveV2", inputs));
  TROUPE_ASSIGN(auto* saved,
                model.add("Identity", scope + "/control_dependency", {{file, 0}}, {}, {save}));
  TROUPE_ASSIGN(auto restore_names,
                model.constant(scope + "/RestoreV2/tensor_names", vector_of(names)));
  TROUPE_ASSIGN(auto restore_slices,
                model.constant(scope + "/RestoreV2/shape_and_slices", vector_of(slices)));
  TROUPE_ASSIGN(auto* restore, model.add("RestoreV2", scope + "/RestoreV2",
                                         {{file, 0}, restore_names, restore_slices},
                                         {{"dtypes", attr_value{types}}}));
  std::vector<node*> assigns;
  for (size_t i = 0; i < variables.size(); ++i) {
    TROUPE_ASSIGN(auto* assign, model.add("Assign", concat(scope, "/Assign_", i),
                                          {inputs[i + 3], {restore, static_cast<int>(i)}}));
    assigns.push_back(assign);
  }
  TROUPE_ASSIGN(auto* restore_all, model.add("NoOp", scope + "/restore_all", {}, {}, assigns));
  saver.set_filename_tensor_name(concat(file->name(), ":0"));
  saver.set_save_tensor_name(concat(saved->name(), ":0"));
  saver.set_restore_op_name(restore_all->name());
  saver.set_max_to_keep(5);
  saver.set_version(SaverDef::V2);
  return {};
}

// The value of an output; a variable is read.
result<edge> output_of(model_graph& model, edge original, const std::string& name) {
  TROUPE_ASSIGN(auto copied, model.copy(original));
  if (!copied.node->output_is_ref(copied.index))
    return copied;
  TROUPE_ASSIGN(auto* read, model.add("Identity", name, {copied}));
  return edge{read, 0};
}

status add_signatures(model_graph& model, const saved_model_contents& contents,
                      MetaGraphDef& meta) {
  for (const auto& [name, declared] : contents.signatures) {
    auto& signature = (*meta.mutable_signature_def())[name];
    signature.set_method_name(declared.method);
    for (const auto& [key, tensor_edge] : declared.inputs) {
      if (!tensor_edge || tensor_edge.node->output_is_ref(tensor_edge.index))
        return invalid("signature '", name, "': input '", key, "' is nothing that can be fed");
      TROUPE_ASSIGN(auto copied, model.copy(tensor_edge));
      describe_tensor(copied, (*signature.mutable_inputs())[key]);
    }
    for (const auto& [key, tensor_edge] : declared.outputs) {
      if (!tensor_edge)
        return invalid("signature '", name, "': output '", key, "' is an empty edge");
      TROUPE_ASSIGN(auto copied,
                    output_of(model, tensor_edge, concat("read_for/", name, '/', key)));
      describe_tensor(copied, (*signature.mutable_outputs())[key]);
    }
  }
  return {};
}

// The node to run after the variables are restored; nullptr if there is none.
result<node*> initializer_of(model_graph& model, const saved_model_contents& contents) {
  std::vector<node*> parts;
  if (contents.initializer) {
    TROUPE_ASSIGN(auto* copy, model.copy(*contents.initializer));
    parts.push_back(copy);
  }
  for (auto* initializer : contents.local_initializers) {
    TROUPE_ASSIGN(auto* copy, model.copy(*initializer));
    parts.push_back(copy);
  }
  if (parts.size() < 2)
    return parts.empty() ? nullptr : parts.front();
  std::string name = "initialize";
  for (int i = 1; model.nodes().find(name); ++i)
    name = concat("initialize_", i);
  return model.add("NoOp", name, {}, {}, parts);
}

// Sets shared_name to the node's name, which identifies Troupe's variables and tables. In
// TensorFlow, variables without a name share one, and tables without a name are separate in each
// function.
void share_by_name(const registry& ops, GraphDef& graph) {
  for (auto& node_def : *graph.mutable_node()) {
    auto op = ops.find_op(node_def.op());
    if (!op || ((*op)->state_kind != resource::table &&
                ((*op)->state_kind != resource::variable || !(*op)->outputs[0].handle)))
      continue;
    auto& name = (*node_def.mutable_attr())["shared_name"];
    if (name.s().empty())
      name.set_s(node_def.name());
  }
}

} // namespace

result<std::string> write_saved_model(const graph& source, const saved_model_contents& contents) {
  SavedModel model;
  model.set_saved_model_schema_version(1);
  auto& meta = *model.add_meta_graphs();
  for (const auto& tag : contents.tags)
    meta.mutable_meta_info_def()->add_tags(tag);
  model_graph copies{source};
  TROUPE_TRY(add_signatures(copies, contents, meta));
  for (const auto& asset : contents.assets) {
    TROUPE_ASSIGN(auto tensor, copies.copy(asset.tensor));
    auto& asset_def = *meta.add_asset_file_def();
    asset_def.set_filename(asset.file);
    describe_tensor(tensor, *asset_def.mutable_tensor_info());
  }
  TROUPE_ASSIGN(auto* init, initializer_of(copies, contents));
  if (init) {
    auto& signature = (*meta.mutable_signature_def())["__saved_model_init_op"];
    auto& init_output = (*signature.mutable_outputs())["__saved_model_init_op"];
    init_output.set_name(init->name());
    init_output.mutable_tensor_shape()->set_unknown_rank(true);
    (*meta.mutable_collection_def())["saved_model_main_op"].mutable_node_list()->add_value(
        init->name());
  }
  TROUPE_TRY(add_saver(copies, contents.variables, *meta.mutable_saver_def()));
  TROUPE_ASSIGN(auto nodes, write_graph_def(copies.nodes()));
  if (!meta.mutable_graph_def()->ParseFromString(nodes) || model.ByteSizeLong() > INT_MAX)
    return failure(error_kind::resource_exhausted, "a SavedModel's graph has at most ", INT_MAX,
                   " bytes");
  share_by_name(source.ops(), *meta.mutable_graph_def());
  if (contents.variables.empty())
    meta.clear_saver_def();
  std::string text;
  {
    google::protobuf::io::StringOutputStream out{&text};
    google::protobuf::io::CodedOutputStream coded{&out};
    coded.SetSerializationDeterministic(true);
    model.SerializeToCodedStream(&coded);
  }
  return text;
}

} // namespace troupe
