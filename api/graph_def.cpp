#include "troupe/api/graph_def.hpp"
// Imports and exports GraphDefs.

#include "troupe/api/error.hpp"
#include "troupe/serialization/storage/file.hpp"
#include "troupe/serialization/storage/file_kind.hpp"

namespace troupe {
namespace {

bool is_text(const std::string& path) { return path.ends_with(".pbtxt"); }

} // namespace

edge graph_import::operator[](std::string_view name) const {
  return value_or_throw(nodes_.find_edge(name));
}

node* graph_import::target(std::string_view name) const {
  if (auto* target_node = nodes_.find(name))
    return target_node;
  return value_or_throw(nodes_.find_edge(name)).node; // its error suggests names
}

graph_import import_graph_def(graph_builder& to, const std::string& path,
                              graph_def_options options) {
  auto content = value_or_throw(read_file(path));
  options.file = path.substr(path.rfind('/') + 1);
  // A MetaGraphDef is called .meta in either form.
  if (is_text(path) || (path.ends_with(".meta") && !is_binary(content)))
    return graph_import{value_or_throw(read_graph_def_text(content, to, options))};
  return import_graph_def(to, std::as_bytes(std::span{content}), options);
}

graph_import import_graph_def(graph_builder& to, std::span<const std::byte> bytes,
                              const graph_def_options& options) {
  return graph_import{value_or_throw(read_graph_def(bytes, to, options))};
}

void export_graph_def(const graph& from, const std::string& path) {
  auto format = is_text(path) ? graph_def_format::text : graph_def_format::binary;
  throw_if_failed(write_file(path, value_or_throw(write_graph_def(from, format))));
}

} // namespace troupe
