// Tensors by name, from files of any format.
#include "troupe/serialization/checkpoint/tensor_files.hpp"

#include "tests/support/catch.hpp"
#include "tests/support/simulated_disk.hpp"
#include "troupe/serialization/arrays/npz.hpp"
#include "troupe/serialization/checkpoint/checkpoint_folder.hpp"
#include "troupe/serialization/tensor_bundle/slice_file.hpp"

namespace troupe::test::tensor_files_test {

using Catch::Matchers::Contains;

namespace {

const tensor weights = tensor::from_values<float>(shape{2, 2}, {1, 2, 3, 4});
const tensor bias = tensor::vector<int64_t>({5, 6});

void write_all(simulated_disk& disk) {
  checkpoint_folder folder{disk, "run/model"};
  checkpoint_manifest manifest;
  manifest.step = 3;
  REQUIRE(folder.save(manifest, {{"w", weights}, {"b", bias}}));
  manifest.step = 4;
  REQUIRE(folder.save(
      manifest,
      {{"w", tensor::from_values<float>(shape{1, 2}, {1, 2}), manifest_slice{shape{2, 2}, {0, 0}}},
       {"w", tensor::from_values<float>(shape{1, 2}, {3, 4}), manifest_slice{shape{2, 2}, {1, 0}}},
       {"b", bias}},
      checkpoint_format::tensorflow));
  auto single = safetensors_writer::begin(
      disk, "w.safetensors", {safetensors_item::of("w", weights), safetensors_item::of("b", bias)});
  REQUIRE(single);
  for (const auto& entry :
       std::vector<safetensors_item>{single->order().begin(), single->order().end()})
    REQUIRE(single->add(entry.name == "w" ? weights : bias));
  REQUIRE(single->finish());
  REQUIRE(write_npz(
      disk, "w.npz",
      std::vector{std::pair{std::string{"w"}, weights}, std::pair{std::string{"b"}, bias}}));
  auto second = tensor_bundle_writer::begin(disk, "second.ckpt");
  REQUIRE(second);
  REQUIRE(second->add("w", weights));
  REQUIRE(second->add("b", bias));
  REQUIRE(second->finish());
  slice_file_writer first{disk, "first.ckpt"};
  const std::vector<int64_t> begin{0, 0};
  REQUIRE(first.add("w", shape{2, 2}, begin, weights));
  REQUIRE(first.add("b", shape{2}, std::span{begin}.first(1), bias));
  REQUIRE(first.finish());
}

} // namespace

TEST_CASE("tensors are read by name, from files of each format") {
  simulated_disk disk{1};
  write_all(disk);
  for (const auto* path : {"run/model", "run/model/step-3", "run/model/step-4", "w.safetensors",
                           "w.npz", "second.ckpt", "second.ckpt.index", "first.ckpt"}) {
    INFO(path);
    auto from = tensor_files::open(disk, path);
    INFO(from.status());
    REQUIRE(from);
    REQUIRE(from->tensors().size() == 2);
    CHECK((from->tensors()[0].name == "b" && from->tensors()[1].name == "w"));
    CHECK((from->find("w")->type == dtype::f32 && from->find("w")->dims == shape{2, 2}));
    CHECK(identical(*from->read("w"), weights));
    CHECK(identical(*from->read("b"), bias));
    CHECK(from->verify());
    CHECK(from->find("x") == nullptr);
    CHECK_THAT(from->read("x").status().message(), Contains("has no tensor 'x'"));
    CHECK_THAT(from->read("ww").status().message(), Contains("'ww', did you mean 'w'?"));
  }
  CHECK(tensor_files::open(disk, "run/model")->path() == "run/model/step-4");
  CHECK(tensor_files::open(disk, "second.ckpt.index")->path() == "second.ckpt");
}

TEST_CASE("any file of a TensorFlow checkpoint identifies it, and a folder its latest one") {
  simulated_disk disk{1};
  auto write = [&](const std::string& prefix, const tensor& value) {
    auto to = tensor_bundle_writer::begin(disk, prefix);
    REQUIRE(to);
    REQUIRE(to->add("w", value));
    REQUIRE(to->finish());
  };
  auto opened = [&](const std::string& path) {
    auto from = tensor_files::open(disk, path);
    return from ? from->path() : from.status().message();
  };
  REQUIRE(disk.make_folder("run"));
  write("run/model-1", bias);
  CHECK(opened("run") == "run/model-1"); // the only one
  write("run/model-2", weights);
  CHECK_THAT(opened("run"), Contains("run: has several checkpoints; name one: run/model-1, "
                                     "run/model-2"));
  disk.put("run/model-2.meta", "a graph");
  for (const auto* path :
       {"run/model-2", "run/model-2.index", "run/model-2.meta", "run/model-2.data-00000-of-00001"})
    CHECK(opened(path) == "run/model-2");
  disk.put("run/checkpoint", "model_checkpoint_path: \"model-1\"\n"
                             "all_model_checkpoint_paths: \"model-1\"\n");
  CHECK(opened("run") == "run/model-1");
  // A folder that was moved, and a name in Protobuf's text escapes.
  disk.put("run/checkpoint", "  model_checkpoint_path : '/old/place/mod\\145l-2'\n");
  CHECK(opened("run") == "run/model-2");
  disk.put("run/checkpoint", "model_checkpoint_path: \"gone\"\n");
  CHECK_THAT(opened("run"), Contains("run/checkpoint: names run/gone"));
  disk.put("run/checkpoint", "model_checkpoint_path: gone\n");
  CHECK_THAT(opened("run"), Contains("run/checkpoint: does not name a checkpoint"));
  disk.put("run/alone.meta", "a graph");
  CHECK_THAT(opened("run/alone.meta"),
             Contains("run/alone.meta: is the graph") && Contains("there is no run/alone.index"));
  // The variables of a SavedModel.
  REQUIRE(disk.make_folder("saved/variables"));
  write("saved/variables/variables", weights);
  disk.put("saved/saved_model.pb", "");
  CHECK(opened("saved") == "saved/variables/variables");
  CHECK(opened("saved/saved_model.pb") == "saved/variables/variables");
}

TEST_CASE("a file without tensors is an error that names the file") {
  simulated_disk disk{1};
  write_all(disk);
  disk.put("text", "nothing of the kind");
  disk.put("text.npz", "nothing of the kind");
  disk.put("text.safetensors", "nothing of the kind");
  REQUIRE(disk.make_folder("empty"));
  for (const auto* path :
       {"none", "none.npz", "none.safetensors", "empty", "text", "text.npz", "text.safetensors"})
    CHECK_THAT(tensor_files::open(disk, path).status().message(), Contains(path));
}

} // namespace troupe::test::tensor_files_test
