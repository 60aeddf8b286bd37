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

// Copies what is needed of a graph, with what saves and restores its variables.
class model_graph {
public:
  explicit model_graph(const graph& of) : nodes_(of.ops()) {}

  graph& nodes() { return nodes_; }

  // A node and all that it needs, each after what it needs.
  result<node*> copy(node& wanted) {
    std::vector<node*> open{&wanted};
    while (!open.empty()) {
      auto& next = *open.back();
      if (copies_.contains(&next)) {
        open.pop_back();
        continue;
      }
      auto before = open.size();
      auto need = [&](node* one) {
        if (!copies_.contains(one))
          open.push_back(one);
      };
      for (const auto& input : next.inputs())
        need(input.node);
      for (auto* one : next.controls())
        need(one);
      if (open.size() > before) {
        if (!visited_.insert(&next).second)
          return failure(error_kind::invalid_argument, next.description(),
                         ": waits for itself, by control edges");
        continue;
      }
      std::vector<edge> inputs;
      for (const auto& input : next.inputs())
        inputs.push_back({copies_.at(input.node), input.index});
      std::vector<node*> controls;
      for (auto* one : next.controls())
        controls.push_back(copies_.at(one));
      copies_[&next] = nodes_.add_copy(next, std::move(inputs), std::move(controls));
      open.pop_back();
    }
    return copies_.at(&wanted);
  }

  result<edge> copy(edge wanted) {
    TROUPE_ASSIGN(auto* made, copy(*wanted.node));
    return edge{made, wanted.index};
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
    TROUPE_ASSIGN(auto* made,
                  add("Const", std::move(name), {},
                      {{"value", attr_value{std::move(value)}}, {"dtype", attr_value{type}}}));
    return edge{made, 0};
  }

private:
  graph nodes_;
  std::unordered_map<const node*, node*> copies_;
  std::set<const node*> visited_;
};

tensor vector_of(const std::vector<std::string>& texts) {
  return tensor::vector<std::string>(texts);
}

void describe_tensor(edge what, TensorInfo& to) {
  to.set_name(concat(what.node->name(), ':', what.index));
  to.set_dtype(written(what.type()));
  *to.mutable_tensor_shape() = written(what.dims());
}

// As TensorFlow's Saver makes them.
status add_saver(model_graph& to, const std::vector<saved_model_contents::variable>& variables,
                 SaverDef& saver) {
  if (variables.empty())
    return {};
  std::vector<std::string> names, slices;
  std::vector<dtype> types;
  std::vector<edge> inputs{{}, {}, {}};
  for (const auto& each : variables) {
    names.push_back(each.name);
    slices.push_back(each.slice);
    types.push_back(each.made.type());
    TROUPE_ASSIGN(auto made, to.copy(each.made));
    inputs.push_back(made);
  }
  std::string in = "save";
  for (int i = 1; to.nodes().find(in + "/Const") || to.nodes().find(in + "/SaveV2"); ++i)
    in = concat("save_", i);
  TROUPE_ASSIGN(auto preset, to.constant(in + "/filename", tensor::scalar<std::string>("model")));
  TROUPE_ASSIGN(auto* file, to.add("PlaceholderWithDefault", in + "/Const", {preset},
                                   {{"shape", attr_value{partial_shape{shape{}}}}}));
  TROUPE_ASSIGN(auto save_names, to.constant(in + "/SaveV2/tensor_names", vector_of(names)));
  TROUPE_ASSIGN(auto save_slices, to.constant(in + "/SaveV2/shape_and_slices", vector_of(slices)));
  inputs[0] = {file, 0};
  inputs[1] = save_names;
  inputs[2] = save_slices;
  TROUPE_ASSIGN(auto* save, to.add("SaveV2", in + "/SaveV2", inputs));
  TROUPE_ASSIGN(auto* saved,
                to.add("Identity", in + "/control_dependency", {{file, 0}}, {}, {save}));
  TROUPE_ASSIGN(auto restore_names, to.constant(in + "/RestoreV2/tensor_names", vector_of(names)));
  TROUPE_ASSIGN(auto restore_slices,
                to.constant(in + "/RestoreV2/shape_and_slices", vector_of(slices)));
  TROUPE_ASSIGN(auto* restore,
                to.add("RestoreV2", in + "/RestoreV2", {{file, 0}, restore_names, restore_slices},
                       {{"dtypes", attr_value{types}}}));
  std::vector<node*> assigns;
  for (size_t i = 0; i < variables.size(); ++i) {
    TROUPE_ASSIGN(auto* one, to.add("Assign", concat(in, "/Assign_", i),
                                    {inputs[i + 3], {restore, static_cast<int>(i)}}));
    assigns.push_back(one);
  }
  TROUPE_ASSIGN(auto* all, to.add("NoOp", in + "/restore_all", {}, {}, assigns));
  saver.set_filename_tensor_name(concat(file->name(), ":0"));
  saver.set_save_tensor_name(concat(saved->name(), ":0"));
  saver.set_restore_op_name(all->name());
  saver.set_max_to_keep(5);
  saver.set_version(SaverDef::V2);
  return {};
}

// A variable has no value to give but what is read of it.
result<edge> output_of(model_graph& in, edge wanted, const std::string& name) {
  TROUPE_ASSIGN(auto made, in.copy(wanted));
  if (!made.node->output_is_ref(made.index))
    return made;
  TROUPE_ASSIGN(auto* read, in.add("Identity", name, {made}));
  return edge{read, 0};
}

status add_signatures(model_graph& to, const saved_model_contents& what, MetaGraphDef& meta) {
  for (const auto& [name, each] : what.signatures) {
    auto& signature = (*meta.mutable_signature_def())[name];
    signature.set_method_name(each.method);
    for (const auto& [key, one] : each.inputs) {
      if (!one || one.node->output_is_ref(one.index))
        return invalid("signature '", name, "': input '", key, "' is nothing that can be fed");
      TROUPE_ASSIGN(auto made, to.copy(one));
      describe_tensor(made, (*signature.mutable_inputs())[key]);
    }
    for (const auto& [key, one] : each.outputs) {
      if (!one)
        return invalid("signature '", name, "': output '", key, "' is an edge to nothing");
      TROUPE_ASSIGN(auto made, output_of(to, one, concat("read_for/", name, '/', key)));
      describe_tensor(made, (*signature.mutable_outputs())[key]);
    }
  }
  return {};
}

// The node to run when the variables are restored; nullptr where there is nothing to do then.
result<node*> initializer_of(model_graph& to, const saved_model_contents& what) {
  std::vector<node*> parts;
  if (what.initializer) {
    TROUPE_ASSIGN(auto* copy, to.copy(*what.initializer));
    parts.push_back(copy);
  }
  for (auto* initializer : what.local_initializers) {
    TROUPE_ASSIGN(auto* copy, to.copy(*initializer));
    parts.push_back(copy);
  }
  if (parts.size() < 2)
    return parts.empty() ? nullptr : parts.front();
  std::string name = "initialize";
  for (int i = 1; to.nodes().find(name); ++i)
    name = concat("initialize_", i);
  return to.add("NoOp", name, {}, {}, parts);
}

// Ours is known by the node's name then. TensorFlow has one variable for all that have no name to
// share, and another table in each function.
void share_by_name(const registry& ops, GraphDef& in) {
  for (auto& each : *in.mutable_node()) {
    auto op = ops.find_op(each.op());
    if (!op || ((*op)->makes != resource::table &&
                ((*op)->makes != resource::variable || !(*op)->outputs[0].handle)))
      continue;
    auto& name = (*each.mutable_attr())["shared_name"];
    if (name.s().empty())
      name.set_s(each.name());
  }
}

} // namespace

result<std::string> write_saved_model(const graph& of, const saved_model_contents& what) {
  SavedModel all;
  all.set_saved_model_schema_version(1);
  auto& meta = *all.add_meta_graphs();
  for (const auto& tag : what.tags)
    meta.mutable_meta_info_def()->add_tags(tag);
  model_graph made{of};
  TROUPE_TRY(add_signatures(made, what, meta));
  for (const auto& each : what.assets) {
    TROUPE_ASSIGN(auto tensor, made.copy(each.tensor));
    auto& to = *meta.add_asset_file_def();
    to.set_filename(each.file);
    describe_tensor(tensor, *to.mutable_tensor_info());
  }
  TROUPE_ASSIGN(auto* init, initializer_of(made, what));
  if (init) {
    auto& signature = (*meta.mutable_signature_def())["__saved_model_init_op"];
    auto& to = (*signature.mutable_outputs())["__saved_model_init_op"];
    to.set_name(init->name());
    to.mutable_tensor_shape()->set_unknown_rank(true);
    (*meta.mutable_collection_def())["saved_model_main_op"].mutable_node_list()->add_value(
        init->name());
  }
  TROUPE_TRY(add_saver(made, what.variables, *meta.mutable_saver_def()));
  TROUPE_ASSIGN(auto nodes, write_graph_def(made.nodes()));
  if (!meta.mutable_graph_def()->ParseFromString(nodes) || all.ByteSizeLong() > INT_MAX)
    return failure(error_kind::resource_exhausted, "a SavedModel's graph has at most ", INT_MAX,
                   " bytes");
  share_by_name(of.ops(), *meta.mutable_graph_def());
  if (what.variables.empty())
    meta.clear_saver_def();
  std::string text;
  {
    google::protobuf::io::StringOutputStream out{&text};
    google::protobuf::io::CodedOutputStream coded{&out};
    coded.SetSerializationDeterministic(true);
    all.SerializeToCodedStream(&coded);
  }
  return text;
}

} // namespace troupe
