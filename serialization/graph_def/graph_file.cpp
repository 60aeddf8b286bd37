#include "troupe/serialization/graph_def/graph_file.hpp"

#include "troupe/serialization/graph_def/text_format.hpp"
#include "troupe/serialization/storage/file_kind.hpp"

#include <algorithm>
#include <climits>

namespace troupe::graph_def {
namespace {

template <class Message>
bool parse(std::span<const std::byte> bytes, Message& message) {
  return bytes.size() <= INT_MAX &&
         message.ParseFromArray(bytes.data(), static_cast<int>(bytes.size()));
}

// Bytes of one message may parse as another; then names of ops are usually not printable.
bool is_likely(const GraphDef& from) {
  auto named = [](const NodeDef& node) {
    return !node.op().empty() &&
           std::ranges::all_of(node.op(), [](char c) { return c > ' ' && c < '\x7f'; });
  };
  return from.node_size() > 0 && std::ranges::all_of(from.node(), named);
}

std::string list_of_tags(const std::vector<std::string>& tags) {
  std::string text = "{";
  for (const auto& tag : tags)
    text += concat(text.size() > 1 ? ", " : "", tag);
  return text + '}';
}

result<GraphDef> graph_of(SavedModel& model, const std::string& file) {
  auto index = choose_graph(model, {});
  if (!index)
    return index.status().with_context(file);
  return std::move(*model.mutable_meta_graphs(*index)->mutable_graph_def());
}

bool is_one_of(std::string_view name, std::initializer_list<std::string_view> names) {
  return std::ranges::find(names, name) != names.end();
}

} // namespace

result<int> choose_graph(const SavedModel& from, std::vector<std::string> tags) {
  std::ranges::sort(tags);
  if (tags.empty() && from.meta_graphs_size() == 1)
    return 0;
  if (tags.empty())
    tags = {"serve"};
  std::string known_tags;
  for (int i = 0; i < from.meta_graphs_size(); ++i) {
    const auto& info = from.meta_graphs(i).meta_info_def();
    std::vector<std::string> graph_tags{info.tags().begin(), info.tags().end()};
    std::ranges::sort(graph_tags);
    if (graph_tags == tags)
      return i;
    known_tags += concat(known_tags.empty() ? "" : ", ", list_of_tags(graph_tags));
  }
  return failure(error_kind::not_found, "has no graph with the tags ", list_of_tags(tags),
                 ", it has ", known_tags.empty() ? "none" : known_tags);
}

result<GraphDef> parse_graph(std::span<const std::byte> bytes, const std::string& file) {
  GraphDef graph;
  auto parsed = parse(bytes, graph);
  if (parsed && is_likely(graph))
    return graph;
  if (MetaGraphDef meta; parse(bytes, meta) && is_likely(meta.graph_def()))
    return std::move(*meta.mutable_graph_def());
  if (SavedModel model; parse(bytes, model) && model.meta_graphs_size() > 0 &&
                        is_likely(model.meta_graphs(0).graph_def()))
    return graph_of(model, file);
  if (parsed)
    return graph;
  std::string_view text{reinterpret_cast<const char*>(bytes.data()), bytes.size()};
  if (auto kind = describe_content(text); !kind.empty())
    return invalid(file, ": this is not a GraphDef: it is ", kind);
  return failure(error_kind::data_loss, file, ": this is not a GraphDef, or it is damaged");
}

result<GraphDef> parse_graph_text(std::string_view text, const std::string& file) {
  auto field = first_field(text);
  if (is_one_of(field, {"meta_info_def", "graph_def", "saver_def", "collection_def",
                        "signature_def", "asset_file_def"})) {
    MetaGraphDef meta;
    TROUPE_TRY(parse_text(text, file, meta));
    return std::move(*meta.mutable_graph_def());
  }
  if (is_one_of(field, {"saved_model_schema_version", "meta_graphs"})) {
    SavedModel model;
    TROUPE_TRY(parse_text(text, file, model));
    return graph_of(model, file);
  }
  GraphDef graph;
  TROUPE_TRY(parse_text(text, file, graph));
  return graph;
}

} // namespace troupe::graph_def
