// Import from TensorFlow and export to it: a GraphDef is imported with the names in it, extended by
// new nodes, and written again. A file called `.pbtxt` has the same content as text.
// `troupe run graph.pb --feed x=[1,2,3] --fetch y` runs such a file without a program.
#include <troupe/troupe.hpp>

#include <cstdio>
#include <filesystem>
#include <iostream>

using namespace troupe;

// Stands for an exported model with an input `x` and an output `y`.
void make_model(const std::string& path) {
  graph_builder g;
  auto x = g.placeholder(dtype::f32, {-1}, "x");
  identity(x * 2 + 1, "y");
  export_graph_def(g, path);
}

int main() {
  auto path = (std::filesystem::temp_directory_path() / "troupe_model.pb").string();
  make_model(path);

  graph_builder g;
  auto model = [&] {
    auto name_scope = g.scope("model"); // its nodes become model/x, model/y and so on
    return import_graph_def(g, path);
  }();
  auto total = sum(model["y"]);

  auto s = session::local();
  std::cout << "sum of y: " << s.fetch(total, {{model["x"], {1.0f, 2.0f, 3.0f}}}) << '\n';
  try {
    model["z"];
  } catch (const error& problem) {
    std::cout << problem.what() << '\n';
  }
  std::remove(path.c_str());
}

// Prints:
// sum of y: f32[] {15}
// the graph has no node 'model/z', did you mean 'model/x' or 'model/y'?
