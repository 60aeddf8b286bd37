// Save and Restore ops in graphs: files of the tasks that the nodes are on.
#include "tests/support/catch.hpp"
#include "tests/support/failure_of.hpp"
#include "tests/support/temporary_folder.hpp"
#include "troupe/serialization/tensor_bundle/tensor_bundle.hpp"
#include "troupe/troupe.hpp"

#include <filesystem>

namespace troupe::test::save_restore_test {
namespace {

using Catch::Matchers::Contains;

// As TensorFlow's Saver: an op that saves two variables, and one that assigns them.
struct saving {
  graph_builder g;
  edge file = g.placeholder(dtype::string, shape{}, "file");
  variable_handle w = g.variable(tensor::of<float>({2, 2}, {1, 2, 3, 4}), "w");
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
  feed to(const std::string& path) { return {file, tensor::scalar(path)}; }
};

} // namespace

TEST_CASE("a graph saves its variables and restores them") {
  temporary_folder folder;
  saving one;
  auto s = session::local();
  s.run(one.init);
  auto path = folder / "new/folder/model";
  s.run({one.to(path)}, {}, {one.save});
  s.run(one.change);
  CHECK(to_string(s.fetch(one.w)) == "f32[2,2] {2, 4, 6, 8}");
  s.run({one.to(path)}, {}, {one.restore});
  CHECK(to_string(s.fetch(one.w)) == "f32[2,2] {1, 2, 3, 4}");
  CHECK(to_string(s.fetch(one.b)) == "i64[] {7}");
  auto reader = tensor_bundle_reader::open(real_files(), path);
  REQUIRE(reader);
  CHECK(reader->tensors().size() == 2);
}

TEST_CASE("errors of saving and restoring name the node, the file and the tensor") {
  temporary_folder folder;
  saving one;
  auto s = session::local();
  s.run(one.init);
  auto run = [&](const std::string& path, node* what) {
    return failure_of([&] { s.run({one.to(path)}, {}, {what}); });
  };
  auto path = folder / "model";
  CHECK_THAT(run(path, one.restored), Contains("not_found") && Contains("'restore'") &&
                                          Contains(path + ": there is no checkpoint"));
  CHECK_THAT(run("/dev/null/model", one.save), Contains("'save'") && Contains("/dev/null"));
  s.run({one.to(path)}, {}, {one.save});
  auto wanted = [&](const char* name, const char* slice, dtype type) {
    auto* from = one.add({.op = "RestoreV2",
                          .inputs = {one.file, one.g.constant(tensor::vector<std::string>({name})),
                                     one.g.constant(tensor::vector<std::string>({slice}))},
                          .attrs = {{"dtypes", attr_value{std::vector<dtype>{type}}}}});
    return failure_of([&] { s.run({one.to(path)}, {{from, 0}}); });
  };
  CHECK_THAT(wanted("v", "", dtype::f32), Contains("not_found") && Contains("has no tensor 'v'"));
  CHECK_THAT(wanted("w", "", dtype::f64),
             Contains(path + ".index: tensor 'w' is f32 in the checkpoint, and f64"));
  CHECK_THAT(wanted("w", "3 2 0,1:-", dtype::f32), Contains("tensor 'w' is [2,2]"));
  CHECK_THAT(wanted("w", "2 2 0,3:-", dtype::f32), Contains("does not lie within the whole"));
  CHECK(wanted("w", "2 2 1,1:-", dtype::f32) == "no error");
  {
    auto data = path + ".data-00000-of-00001";
    auto content = *read_whole(real_files(), data);
    content[content.size() - 1] ^= 1;
    auto file = *real_files().create(data);
    REQUIRE(file->append(content));
  }
  CHECK_THAT(run(path, one.restored),
             Contains("data_loss") && Contains("tensor '") && Contains("its bytes have changed"));
}

TEST_CASE("slices are saved by their places, and shards merged into one checkpoint") {
  temporary_folder folder;
  saving one;
  auto s = session::local();
  auto text = [&](const std::string& value) { return one.g.constant(tensor::scalar(value)); };
  auto list = [&](std::vector<std::string> values) {
    return one.g.constant(tensor::vector<std::string>(values));
  };
  std::vector<node*> saves;
  std::vector<std::string> parts;
  for (int i = 0; i < 2; ++i) {
    parts.push_back(concat(folder.path(), "/temporary/part-", i));
    auto row = one.g.constant(tensor::of<int32_t>({1, 2}, {i, i + 10}));
    saves.push_back(one.add(
        {.op = "SaveV2",
         .inputs = {text(parts.back()), list({"v"}), list({concat("2 2 ", i, ",1:-")}), row}}));
  }
  auto whole = folder / "model";
  auto* merge = one.add(
      {.op = "MergeV2Checkpoints", .inputs = {list(parts), text(whole)}, .controls = saves});
  s.run(merge);
  CHECK_FALSE(std::filesystem::exists(folder / "temporary"));
  auto* back = one.add({.op = "RestoreV2",
                        .inputs = {text(whole), list({"v", "v"}), list({"", "2 2 -:1,1"})},
                        .attrs = {{"dtypes", attr_value{std::vector{dtype::i32, dtype::i32}}}}});
  auto values = s.run({}, {{back, 0}, {back, 1}});
  CHECK(to_string(values[0]) == "i32[2,2] {0, 10, 1, 11}");
  CHECK(to_string(values[1]) == "i32[2,1] {10, 11}");
}

TEST_CASE("the ops of version 1 write one file, which RestoreV2 reads as well") {
  temporary_folder folder;
  saving one;
  auto s = session::local();
  s.run(one.init);
  auto path = folder / "old-00000-of-00001";
  auto* save = one.add({.op = "Save", .inputs = {one.file, one.names, one.w.ref, one.b.ref}});
  s.run({one.to(path)}, {}, {save});
  auto restored = [&](const char* op, std::vector<edge> more) {
    std::vector<edge> inputs{one.file, one.g.constant(tensor::scalar<std::string>("w"))};
    inputs.insert(inputs.end(), more.begin(), more.end());
    auto* from = one.add({.op = op, .inputs = inputs, .attrs = {{"dt", attr_value{dtype::f32}}}});
    return to_string(s.run({one.to(folder / "old-????"
                                            "?-of-00001")},
                           {{from, 0}})
                         .at(0));
  };
  CHECK(restored("Restore", {}) == "f32[2,2] {1, 2, 3, 4}");
  CHECK(restored("RestoreSlice", {one.g.constant(tensor::scalar<std::string>("2 2 -:0,1"))}) ==
        "f32[2,1] {1, 3}");
  s.run(one.change);
  s.run({one.to(path)}, {}, {one.restore});
  CHECK(to_string(s.fetch(one.w)) == "f32[2,2] {1, 2, 3, 4}");
}

TEST_CASE("a checkpoint that is merged into itself by another path stays") {
  temporary_folder folder;
  saving one;
  auto s = session::local();
  s.run(one.init);
  auto path = folder / "model";
  s.run({one.to(path)}, {}, {one.save});
  std::filesystem::create_directory_symlink(folder.path(), folder / "link");
  auto merged = [&](std::vector<std::string> from) {
    auto* merge = one.add({.op = "MergeV2Checkpoints",
                           .inputs = {one.g.constant(tensor::vector<std::string>(from)),
                                      one.g.constant(tensor::scalar(path))}});
    return failure_of([&] { s.run(merge); });
  };
  CHECK_THAT(merged({folder / "./model"}), Contains("merged into itself"));
  CHECK_THAT(merged({folder / "part", folder / "x/../part"}), Contains("cannot read"));
  s.run({one.to(folder / "part")}, {}, {one.save});
  CHECK_THAT(merged({folder / "part", folder / "x/../part"}), Contains("to be merged twice"));
  CHECK(merged({folder / "link/model"}) == "no error"); // nobody knows by its name
  s.run(one.change);
  s.run({one.to(path)}, {}, {one.restore});
  CHECK(to_string(s.fetch(one.b)) == "i64[] {7}");
}

TEST_CASE("the names of shards have five digits at least") {
  graph_builder g;
  auto shard = g.placeholder(dtype::i32, shape{}, "shard"),
       of = g.placeholder(dtype::i32, shape{}, "of");
  auto base = g.constant(tensor::scalar<std::string>("m"));
  auto name = sharded_filename(base, shard, of), all = sharded_filespec(base, of);
  auto s = session::local();
  auto made = [&](int32_t number, int32_t count) {
    auto values =
        s.run({{shard, tensor::scalar(number)}, {of, tensor::scalar(count)}}, {name, all});
    return concat(to_scalar<std::string>(values[0]), ' ', to_scalar<std::string>(values[1]));
  };
  CHECK(made(1, 4) == "m-00001-of-00004 m-????"
                      "?-of-00004");
  CHECK(made(123456, 1234567) == "m-123456-of-1234567 m-????"
                                 "?-of-1234567");
  // As TensorFlow's printf has it.
  CHECK(made(-1, -12345) == "m--0001-of--12345 m-????"
                            "?-of--12345");
}

} // namespace troupe::test::save_restore_test
