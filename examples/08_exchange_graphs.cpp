// Graphs that come from TensorFlow and go there: a GraphDef is read by the names in it, and joins
// what is built around it; the whole is written again. The file `.pbtxt` would be the same as text,
// and `troupe run graph.pb --feed x=[1,2,3] --fetch y` runs one without a program.
#include <troupe/troupe.hpp>

#include <cstdio>
#include <filesystem>
#include <iostream>

using namespace troupe;

// Stands for what others have exported: a model with an input `x` and an output `y`.
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
    auto in = g.scope("model"); // its nodes become model/x, model/y and so on
    return import_graph_def(g, path);
  }();
  auto total = sum(model["y"]);

  auto s = session::local();
  std::cout << "sum of y: " << s.fetch(total, {{model["x"], {1.0f, 2.0f, 3.0f}}}) << '\n';
  try {
    model["z"];
  } catch (const error& e) {
    std::cout << e.what() << '\n';
  }
  std::remove(path.c_str());
}

// Prints:
// sum of y: f32[] {15}
// the graph has no node 'model/z', did you mean 'model/x' or 'model/y'?
