// SavedModels: those of TensorFlow (tests/graphs/tensorflow/saved_models.py), and our own.
#include "tests/support/catch.hpp"
#include "tests/support/data_folder.hpp"
#include "tests/support/temporary_folder.hpp"
#include "tests/support/thrown_errors.hpp"
#include "troupe/serialization/arrays/zip.hpp"
#include "troupe/serialization/storage/file.hpp"
#include "troupe/serialization/tensor_bundle/tensor_bundle.hpp"
#include "troupe/serialization/text/close_to.hpp"
#include "troupe/troupe.hpp"

#include <filesystem>
#include <mutex>

namespace troupe::test::saved_model_test {
namespace {

using Catch::Matchers::Contains;

// A model that TensorFlow has written, with feeds and expected results in folders named by
// signature.
struct golden {
  temporary_folder folder;

  explicit golden(const std::string& name) {
    auto path = data_folder("graphs/tensorflow") / concat("saved_", name, ".zip");
    auto from = zip_reader::open(real_files(), path.string());
    REQUIRE(from);
    for (const auto& entry : from->entries()) {
      auto target_path = folder / entry.name;
      std::filesystem::create_directories(folder_of(target_path));
      auto content = from->read(entry);
      REQUIRE(content);
      REQUIRE(write_file(target_path, *content));
    }
  }

  std::string model() const { return folder.path() + "/model"; }

  std::map<std::string, tensor> arrays(const std::string& signature,
                                       const char* folder_name) const {
    std::map<std::string, tensor> arrays_found;
    auto array_folder = folder.path() + '/' + signature + '/' + folder_name;
    for (const auto& file : std::filesystem::directory_iterator{array_folder})
      arrays_found[file.path().stem().string()] = load_npy(file.path().string());
    return arrays_found;
  }
};

void runs_as_in_tensorflow(const std::string& name, const std::vector<std::string>& signatures) {
  golden from{name};
  for (const auto& signature_name : signatures) {
    INFO(name << ", " << signature_name);
    graph_builder g;
    auto model = load_saved_model(g, from.model());
    auto s = session::local();
    model.initialize(s);
    const auto& signature = model.signature(signature_name);
    std::vector<feed> feeds;
    for (const auto& [key, value] : from.arrays(signature_name, "feed"))
      feeds.emplace_back(signature.inputs.at(key), value);
    CHECK(feeds.size() == signature.inputs.size());
    std::vector<edge> edges;
    auto expected = from.arrays(signature_name, "fetch");
    for (const auto& [key, value] : expected)
      edges.push_back(signature.outputs.at(key));
    CHECK(edges.size() == signature.outputs.size());
    auto fetched = s.run(feeds, edges);
    size_t i = 0;
    for (const auto& [key, value] : expected) {
      std::string problem;
      auto close = close_to(fetched[i++], value, default_tolerance(value.type()), &problem);
      INFO(key << ": " << problem);
      CHECK(close);
    }
  }
}

// w x + b.
struct line {
  graph_builder g;
  edge x = g.placeholder(dtype::f32, shape{2}, "x");
  variable_handle w = g.resource_variable(tensor::vector<float>({2, 3}), "w");
  variable_handle b = g.resource_variable(tensor::scalar(0.5f), "b");
  edge y = w * x + b;
  node* init = g.initializer();

  save_model_options options() {
    return {.signatures = {{"serving_default", {.inputs = {{"x", x}}, .outputs = {{"y", y}}}},
                           {"weights", {.inputs = {}, .outputs = {{"w", w}}}}}};
  }
};

} // namespace

TEST_CASE("a SavedModel of TensorFlow's first API runs: variables, an asset, a table") {
  runs_as_in_tensorflow("first_version", {"serving_default", "number_of"});
}

TEST_CASE("a SavedModel of a tf.Module runs: functions, handles, an asset, a table") {
  runs_as_in_tensorflow("module", {"serving_default", "number_of"});
}

TEST_CASE("a SavedModel that Keras exports runs") {
  runs_as_in_tensorflow("keras", {"serving_default"});
}

TEST_CASE("a SavedModel as text runs like one of bytes") {
  runs_as_in_tensorflow("as_text", {"serving_default", "number_of"});
}

TEST_CASE("a SavedModel whose variables are a checkpoint of version 1 is restored") {
  runs_as_in_tensorflow("first_checkpoint", {"serving_default"});
}

TEST_CASE("types that a signature omits are those of its nodes") {
  golden from{"first_checkpoint"};
  auto models = list_saved_model(real_files(), from.model());
  REQUIRE(models);
  const auto& signature = models->front().signatures.at("serving_default");
  CHECK((signature.inputs.at("x").has_type && signature.inputs.at("x").type == dtype::f32));
  CHECK(signature.outputs.at("y").type == dtype::f32);
}

TEST_CASE("the graph beside a checkpoint of TensorFlow 1 is imported, restored and run") {
  golden from{"on_disk"};
  for (const auto* step : {"1", "2"}) {
    graph_builder g;
    auto prefix = concat(from.model(), "/model.ckpt-", step);
    auto model = import_graph_def(g, prefix + ".meta");
    auto s = session::local();
    s.run({{model["save/Const"], tensor::scalar(prefix)}}, {}, {model.target("save/restore_all")});
    auto y = s.fetch(model["y"], {{model["x"], tensor::vector<float>({1, 10})}});
    CHECK(identical(y, *step == '1' ? tensor::vector<float>({1, 20})
                                    : tensor::vector<float>({3, 40})));
  }
}

TEST_CASE("a signature may feed a variable, which then needs no value, by two names as well") {
  graph_builder g;
  auto v = g.variable(0.0f, "v");
  auto r = g.resource_variable(tensor::scalar(0.0f), "r");
  auto y = v + r;
  auto s = session::local();
  CHECK(to_scalar<float>(s.fetch(y, {{v, 2.0f}, {r, 3.0f}})) == 5);
  CHECK(to_scalar<float>(s.fetch(y, {{v, 2.0f}, {r, 3.0f}, {v, 2.0f}})) == 5);
  CHECK_THAT(error_text_of([&] {
               s.fetch(y, {{v, 2.0f}, {r, 3.0f}, {v, 4.0f}});
             }),
             Contains("is fed twice"));
  CHECK_THAT(error_text_of([&] {
               s.run({{v, 2.0f}}, {}, {g.initializer()});
             }),
             Contains("takes the variable 'v' itself"));
  s.run(g.initializer());
  CHECK(to_scalar<float>(s.fetch(y, {{v, 2.0f}})) == 2);
  CHECK(to_scalar<float>(s.fetch(v)) == 0); // a feed changes nothing
  // Several outputs of one node.
  auto parts = split(0, g.placeholder(dtype::f32, {2}, "whole"), 2);
  CHECK(to_scalar<float>(
            s.fetch(sum(parts[0] + parts[1]), {{parts[0], tensor::vector<float>({1})},
                                               {parts[1], tensor::vector<float>({2})}})) == 3);
}

TEST_CASE("a model that names devices of another machine runs, with a warning") {
  temporary_folder folder;
  REQUIRE(write_file(folder / "model.pbtxt", R"(
    node { name: 'x' op: 'Placeholder' device: '/job:localhost/replica:0/task:0/device:CPU:0'
           attr { key: 'dtype' value { type: DT_FLOAT } } }
    node { name: 'v' op: 'VariableV2' device: '/job:ps/task:3'
           attr { key: 'dtype' value { type: DT_FLOAT } } attr { key: 'shape' value { shape { } } } }
    node { name: 'p' op: 'Mul' input: 'x' input: 'v' device: '/device:GPU:0'
           attr { key: 'T' value { type: DT_FLOAT } } }
    node { name: 'y' op: 'Neg' input: 'p' device: '/device:GPU:0'
           attr { key: 'T' value { type: DT_FLOAT } } })"));
  graph_builder g;
  auto model = import_graph_def(g, folder / "model.pbtxt");
  std::vector<std::string> warnings;
  std::mutex guard;
  {
    auto s = session::local({.gpu = {.count = 0}, .on_warning = [&](const std::string& text) {
                               std::scoped_lock lock{guard};
                               warnings.push_back(text);
                             }});
    auto y = s.fetch(model["y"], {{model["x"], 2.0f}, {model["v"], 3.0f}});
    CHECK(to_scalar<float>(y) == -6);
  }
  REQUIRE(warnings.size() == 1); // reported once for each device
  CHECK_THAT(warnings[0], Contains("asks for '/device:GPU:0', which is not there"));
}

TEST_CASE("the content of a SavedModel is listed without its graph") {
  golden from{"module"};
  auto models = list_saved_model(real_files(), from.model());
  REQUIRE(models);
  REQUIRE(models->size() == 1);
  CHECK(models->front().tags == std::vector<std::string>{"serve"});
  const auto& signatures = models->front().signatures;
  REQUIRE(signatures.size() == 2); // and not the signature of the initializer
  CHECK(signatures.at("serving_default").inputs.at("x").dims ==
        *partial_shape::make(std::vector<int64_t>{-1, 2}));
  CHECK(signatures.at("number_of").inputs.at("word").type == dtype::string);
}

TEST_CASE("a SavedModel does not expose training nodes, and its names can be looked up") {
  golden from{"first_version"};
  graph_builder g;
  auto model = load_saved_model(g, from.model(), {.tags = {"serve"}});
  CHECK(g.find("w"));
  CHECK_FALSE(g.find("not_served"));
  CHECK(is_same_edge(model["y"], model.signature().outputs.at("y")));
  CHECK_THAT(error_text_of([&] { model.signature("servin_default"); }),
             Contains("did you mean 'serving_default'?"));
}

TEST_CASE("one signature of a SavedModel can be read alone") {
  golden from{"first_version"};
  graph_builder g, other_graph;
  auto model = load_saved_model(g, from.model(), {.signature = "number_of"});
  CHECK(model.signatures().size() == 1);
  CHECK_FALSE(g.find("y"));
  auto s = session::local();
  model.initialize(s);
  const auto& number_of = model.signature("number_of");
  auto number = s.fetch(number_of.outputs.at("number"),
                        {{number_of.inputs.at("word"), tensor::vector<std::string>({"none"})}});
  CHECK(to_string(number) == "i64[1] {-1}");
  auto outcome = load_saved_model(other_graph, from.model(), {.signature = "servin_default"});
  CHECK_THAT(error_text_of([&] { outcome.signature("servin_default"); }),
             Contains("did you mean 'serving_default'?"));
}

TEST_CASE("the error of an invalid SavedModel, or of a missing graph, names the folder") {
  temporary_folder folder;
  graph_builder g;
  auto load = [&](const std::string& path, std::vector<std::string> tags = {}) {
    return error_text_of([&] { load_saved_model(g, path, {.tags = tags}); });
  };
  CHECK_THAT(load(folder.path()), Contains("not_found") && Contains("saved_model.pb"));
  REQUIRE(write_file(folder / "saved_model.pb", "\x12\xff no"));
  CHECK_THAT(load(folder.path()), Contains("data_loss") && Contains("saved_model.pb"));
  std::filesystem::remove(folder / "saved_model.pb");
  REQUIRE(write_file(folder / "saved_model.pbtxt", "meta_graph {}"));
  CHECK_THAT(load(folder.path()), Contains("saved_model.pbtxt:1:12: SavedModel has no field "
                                           "'meta_graph', did you mean 'meta_graphs'?"));
  std::filesystem::remove(folder / "saved_model.pbtxt");
  REQUIRE(write_file(folder / "model-7.meta", ""));
  CHECK_THAT(load(folder.path()),
             Contains("is no SavedModel; it has graphs of checkpoints: give") &&
                 Contains("model-7.meta"));
  golden from{"keras"};
  CHECK_THAT(load(from.model(), {"serve", "gpu"}),
             Contains("has no graph with the tags {gpu, serve}, it has {serve}"));
  std::filesystem::remove(from.model() + "/variables/variables.data-00000-of-00001");
  auto model = load_saved_model(g, from.model());
  auto s = session::local();
  CHECK_THAT(error_text_of([&] { model.initialize(s); }),
             Contains("variables.data-00000-of-00001"));
}

TEST_CASE("a SavedModel of this library runs again, with the values of its session") {
  temporary_folder folder;
  auto path = folder / "model";
  {
    line model;
    auto s = session::local();
    s.run(model.init);
    s.run(assign_add_variable_op(model.w, tensor::vector<float>({1, 1})));
    save_saved_model(s, model.g, path, model.options());
    CHECK_THAT(error_text_of([&] { save_saved_model(s, model.g, path, model.options()); }),
               Contains("already_exists"));
  }
  graph_builder g;
  auto model = load_saved_model(g, path);
  auto s = session::local();
  model.initialize(s);
  const auto& signature = model.signature();
  CHECK(signature.method == "tensorflow/serving/predict");
  CHECK(to_string(s.fetch(signature.outputs.at("y"),
                          {{signature.inputs.at("x"), tensor::vector<float>({1, 2})}})) ==
        "f32[2] {3.5, 8.5}");
  CHECK(to_string(s.fetch(model.signature("weights").outputs.at("w"))) == "f32[2] {3, 4}");
  CHECK_FALSE(g.find("init")); // no other node is imported
}

TEST_CASE("assets and table initializers are stored in a SavedModel") {
  temporary_folder folder;
  REQUIRE(write_file(folder / "words.txt", "zero\none\ntwo\n"));
  auto path = folder / "model";
  {
    graph_builder g;
    auto file = g.constant(tensor::scalar(folder / "words.txt"), "file");
    auto table = hash_table(g, dtype::string, dtype::i64);
    auto* fill = initialize_table_from_text_file(table, file, -2, -1);
    auto word_input = g.placeholder(dtype::string, {}, "word");
    auto number = lookup_table_find(table, word_input, tensor::scalar<int64_t>(-1));
    auto s = session::local();
    save_saved_model(
        s, g, path,
        {.signatures = {{"number_of",
                         {.inputs = {{"word", word_input}}, .outputs = {{"n", number}}}}},
         .assets = {{file, folder / "words.txt"}},
         .initializer = fill});
  }
  std::filesystem::remove(folder / "words.txt");
  graph_builder g;
  auto model = load_saved_model(g, path);
  auto s = session::local();
  model.initialize(s);
  const auto& signature = model.signature("number_of");
  CHECK(to_string(s.fetch(signature.outputs.at("n"),
                          {{signature.inputs.at("word"),
                            tensor::vector<std::string>({"two", "x"})}})) == "i64[2] {2, -1}");
}

TEST_CASE("slices of a partitioned variable are stored in a SavedModel as one") {
  temporary_folder folder;
  auto path = folder / "model";
  {
    graph_builder g;
    partitioned_variable table{
        g, tensor::from_values<float>({4, 1}, {1, 2, 3, 4}), "table", {.slices = 2}};
    auto s = session::local();
    s.run(g.initializer());
    save_saved_model(s, g, path,
                     {.signatures = {{"all", {.inputs = {}, .outputs = {{"t", table.value()}}}}}});
  }
  auto reader = tensor_bundle_reader::open(real_files(), path + "/variables/variables");
  REQUIRE(reader);
  CHECK(reader->tensors().size() == 1);
  graph_builder g;
  auto model = load_saved_model(g, path);
  auto s = session::local();
  model.initialize(s);
  CHECK(to_string(s.fetch(model.signature("all").outputs.at("t"))) == "f32[4,1] {1, 2, 3, 4}");
}

} // namespace troupe::test::saved_model_test
