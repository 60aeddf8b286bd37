// Save and Restore ops in graphs: they use files of the tasks that run them.
#include "tests/support/catch.hpp"
#include "tests/support/temporary_folder.hpp"
#include "tests/support/thrown_errors.hpp"
#include "troupe/serialization/tensor_bundle/tensor_bundle.hpp"
#include "troupe/troupe.hpp"

#include <filesystem>

namespace troupe::test::save_restore_test {
namespace {

using Catch::Matchers::Contains;

// As TensorFlow's Saver has it: an op that saves two variables, and one that assigns them.
struct saving {
  graph_builder g;
  edge file = g.placeholder(dtype::string, shape{}, "file");
  variable_handle w = g.variable(tensor::from_values<float>({2, 2}, {1, 2, 3, 4}), "w");
  variable_handle b = g.resource_variable(tensor::scalar<int64_t>(7), "b");
  edge names = g.constant(tensor::vector<std::string>({"w", "b"}));
  edge slices = g.constant(tensor::vector<std::string>({"", ""}));
  node* save = add({.op = "SaveV2", .name = "save", .inputs = {file, names, slices, w.ref, b.ref}});
  node* restored =
      add({.op = "RestoreV2",
           .name = "restore",
           .inputs = {file, names, slices},
           .attrs = {{"dtypes", attr_value{std::vector<dtype>{dtype::f32, dtype::i64}}}}});
  node* restore = g.group({assign(w, edge{restored, 0}).node, assign(b, edge{restored, 1}).node});
  node* init = g.initializer();
  node* change = g.group({assign_add(w, w).node, assign_add(b, b).node});

  node* add(node_spec spec) { return value_or_throw(g.add(std::move(spec))); }
  feed file_feed(const std::string& path) { return {file, tensor::scalar(path)}; }
};

} // namespace

TEST_CASE("a graph saves its variables and restores them") {
  temporary_folder folder;
  saving saved;
  auto s = session::local();
  s.run(saved.init);
  auto path = folder / "new/folder/model";
  s.run({saved.file_feed(path)}, {}, {saved.save});
  s.run(saved.change);
  CHECK(to_string(s.fetch(saved.w)) == "f32[2,2] {2, 4, 6, 8}");
  s.run({saved.file_feed(path)}, {}, {saved.restore});
  CHECK(to_string(s.fetch(saved.w)) == "f32[2,2] {1, 2, 3, 4}");
  CHECK(to_string(s.fetch(saved.b)) == "i64[] {7}");
  auto reader = tensor_bundle_reader::open(real_files(), path);
  REQUIRE(reader);
  CHECK(reader->tensors().size() == 2);
}

TEST_CASE("errors of saving and restoring name the node, the file and the tensor") {
  temporary_folder folder;
  saving saved;
  auto s = session::local();
  s.run(saved.init);
  auto run = [&](const std::string& path, node* target) {
    return error_text_of([&] { s.run({saved.file_feed(path)}, {}, {target}); });
  };
  auto path = folder / "model";
  CHECK_THAT(run(path, saved.restored), Contains("not_found") && Contains("'restore'") &&
                                            Contains(path + ": there is no checkpoint"));
  CHECK_THAT(run("/dev/null/model", saved.save), Contains("'save'") && Contains("/dev/null"));
  s.run({saved.file_feed(path)}, {}, {saved.save});
  auto restored_slice = [&](const char* name, const char* slice, dtype type) {
    auto* from =
        saved.add({.op = "RestoreV2",
                   .inputs = {saved.file, saved.g.constant(tensor::vector<std::string>({name})),
                              saved.g.constant(tensor::vector<std::string>({slice}))},
                   .attrs = {{"dtypes", attr_value{std::vector<dtype>{type}}}}});
    return error_text_of([&] { s.run({saved.file_feed(path)}, {{from, 0}}); });
  };
  CHECK_THAT(restored_slice("v", "", dtype::f32),
             Contains("not_found") && Contains("has no tensor 'v'"));
  CHECK_THAT(restored_slice("w", "", dtype::f64),
             Contains(path + ".index: tensor 'w' is f32 in the checkpoint, but f64"));
  CHECK_THAT(restored_slice("w", "3 2 0,1:-", dtype::f32), Contains("tensor 'w' is [2,2]"));
  CHECK_THAT(restored_slice("w", "2 2 0,3:-", dtype::f32),
             Contains("does not lie within the whole"));
  CHECK(restored_slice("w", "2 2 1,1:-", dtype::f32) == "no error");
  {
    auto data = path + ".data-00000-of-00001";
    auto content = *read_whole(real_files(), data);
    content[content.size() - 1] ^= 1;
    auto file = *real_files().create(data);
    REQUIRE(file->append(content));
  }
  CHECK_THAT(run(path, saved.restored),
             Contains("data_loss") && Contains("tensor '") && Contains("its bytes have changed"));
}

TEST_CASE("slices are saved by their positions, and shards merged into one checkpoint") {
  temporary_folder folder;
  saving saved;
  auto s = session::local();
  auto text = [&](const std::string& value) { return saved.g.constant(tensor::scalar(value)); };
  auto list = [&](std::vector<std::string> values) {
    return saved.g.constant(tensor::vector<std::string>(values));
  };
  std::vector<node*> saves;
  std::vector<std::string> parts;
  for (int i = 0; i < 2; ++i) {
    parts.push_back(concat(folder.path(), "/temporary/part-", i));
    auto row = saved.g.constant(tensor::from_values<int32_t>({1, 2}, {i, i + 10}));
    saves.push_back(saved.add(
        {.op = "SaveV2",
         .inputs = {text(parts.back()), list({"v"}), list({concat("2 2 ", i, ",1:-")}), row}}));
  }
  auto full_path = folder / "model";
  auto* merge = saved.add(
      {.op = "MergeV2Checkpoints", .inputs = {list(parts), text(full_path)}, .controls = saves});
  s.run(merge);
  CHECK_FALSE(std::filesystem::exists(folder / "temporary"));
  auto* restore_node =
      saved.add({.op = "RestoreV2",
                 .inputs = {text(full_path), list({"v", "v"}), list({"", "2 2 -:1,1"})},
                 .attrs = {{"dtypes", attr_value{std::vector{dtype::i32, dtype::i32}}}}});
  auto values = s.run({}, {{restore_node, 0}, {restore_node, 1}});
  CHECK(to_string(values[0]) == "i32[2,2] {0, 10, 1, 11}");
  CHECK(to_string(values[1]) == "i32[2,1] {10, 11}");
}

TEST_CASE("the ops of version 1 write one file, which RestoreV2 reads as well") {
  temporary_folder folder;
  saving saved;
  auto s = session::local();
  s.run(saved.init);
  auto path = folder / "old-00000-of-00001";
  auto* save =
      saved.add({.op = "Save", .inputs = {saved.file, saved.names, saved.w.ref, saved.b.ref}});
  s.run({saved.file_feed(path)}, {}, {save});
  auto restored = [&](const char* op, std::vector<edge> extra_inputs) {
    std::vector<edge> inputs{saved.file, saved.g.constant(tensor::scalar<std::string>("w"))};
    inputs.insert(inputs.end(), extra_inputs.begin(), extra_inputs.end());
    auto* from = saved.add({.op = op, .inputs = inputs, .attrs = {{"dt", attr_value{dtype::f32}}}});
    return to_string(s.run({saved.file_feed(folder / "old-????"
                                                     "?-of-00001")},
                           {{from, 0}})
                         .at(0));
  };
  CHECK(restored("Restore", {}) == "f32[2,2] {1, 2, 3, 4}");
  CHECK(restored("RestoreSlice", {saved.g.constant(tensor::scalar<std::string>("2 2 -:0,1"))}) ==
        "f32[2,1] {1, 3}");
  s.run(saved.change);
  s.run({saved.file_feed(path)}, {}, {saved.restore});
  CHECK(to_string(s.fetch(saved.w)) == "f32[2,2] {1, 2, 3, 4}");
}

TEST_CASE("a checkpoint that is merged into itself by another path stays") {
  temporary_folder folder;
  saving saved;
  auto s = session::local();
  s.run(saved.init);
  auto path = folder / "model";
  s.run({saved.file_feed(path)}, {}, {saved.save});
  std::filesystem::create_directory_symlink(folder.path(), folder / "link");
  auto merged = [&](std::vector<std::string> from) {
    auto* merge = saved.add({.op = "MergeV2Checkpoints",
                             .inputs = {saved.g.constant(tensor::vector<std::string>(from)),
                                        saved.g.constant(tensor::scalar(path))}});
    return error_text_of([&] { s.run(merge); });
  };
  CHECK_THAT(merged({folder / "./model"}), Contains("merged into itself"));
  CHECK_THAT(merged({folder / "part", folder / "x/../part"}), Contains("cannot read"));
  s.run({saved.file_feed(folder / "part")}, {}, {saved.save});
  CHECK_THAT(merged({folder / "part", folder / "x/../part"}), Contains("is given twice"));
  CHECK(merged({folder / "link/model"}) == "no error"); // no task uses the link's name
  s.run(saved.change);
  s.run({saved.file_feed(path)}, {}, {saved.restore});
  CHECK(to_string(s.fetch(saved.b)) == "i64[] {7}");
}

TEST_CASE("the names of shards have at least five digits") {
  graph_builder g;
  auto shard = g.placeholder(dtype::i32, shape{}, "shard"),
       shard_count = g.placeholder(dtype::i32, shape{}, "of");
  auto base = g.constant(tensor::scalar<std::string>("m"));
  auto name = sharded_filename(base, shard, shard_count),
       filespec = sharded_filespec(base, shard_count);
  auto s = session::local();
  auto sharded_name = [&](int32_t number, int32_t count) {
    auto values = s.run({{shard, tensor::scalar(number)}, {shard_count, tensor::scalar(count)}},
                        {name, filespec});
    return concat(to_scalar<std::string>(values[0]), ' ', to_scalar<std::string>(values[1]));
  };
  CHECK(sharded_name(1, 4) == "m-00001-of-00004 m-????"
                              "?-of-00004");
  CHECK(sharded_name(123456, 1234567) == "m-123456-of-1234567 m-????"
                                         "?-of-1234567");
  // As TensorFlow's printf formats it.
  CHECK(sharded_name(-1, -12345) == "m--0001-of--12345 m-????"
                                    "?-of--12345");
}

} // namespace troupe::test::save_restore_test
