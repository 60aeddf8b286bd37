// Writes files for tests/serialization/check_written_files.py, which reads them with the libraries
// of their formats; not run by itself.
#include "tests/support/catch.hpp"
#include "tests/support/data_folder.hpp"
#include "troupe/serialization/arrays/npz.hpp"
#include "troupe/serialization/checkpoint/manifest.hpp"
#include "troupe/serialization/events/event_file.hpp"
#include "troupe/serialization/storage/file.hpp"
#include "troupe/serialization/tensor_bundle/tensor_bundle.hpp"

#include <cstdlib>
#include <numeric>

namespace troupe::test::written_files_test {
namespace {

using namespace std::string_literals;

const std::vector<std::pair<std::string, tensor>>& every_type() {
  static const std::vector<std::pair<std::string, tensor>> examples{
      {"f32", tensor::from_values<float>({2, 3}, {0, 1, 2, 3, 4, 5})},
      {"f64", tensor::scalar(0.5)},
      {"f16", tensor::vector<float16>({float16{1}, float16{-2}})},
      {"bf16", tensor::vector<bfloat16>({bfloat16{1}, bfloat16{-2}})},
      {"i64", tensor::vector<int64_t>({-5})},
      {"i32", tensor::vector<int32_t>({-4})},
      {"i16", tensor::vector<int16_t>({-3})},
      {"i8", tensor::vector<int8_t>({-2})},
      {"u64", tensor::vector<uint64_t>({5})},
      {"u32", tensor::vector<uint32_t>({4})},
      {"u16", tensor::vector<uint16_t>({3})},
      {"u8", tensor::vector<uint8_t>({1, 255})},
      {"bool", tensor::from_values<bool>({2}, {true, false})},
      {"empty", tensor::from_values<float>({0, 3}, {})},
      {"c64", tensor::vector<std::complex<float>>({{1, -2}})},
      {"c128", tensor::vector<std::complex<double>>({{1, -2}})},
      {"string",
       tensor::from_values<std::string>({2, 2}, {"a", "", std::string(200, 'b'), "\xff\0"s})}};
  return examples;
}

void write_bundle(const std::string& prefix) {
  auto writer = tensor_bundle_writer::begin(real_files(), prefix);
  REQUIRE(writer);
  for (const auto& [name, value] : every_type())
    REQUIRE(writer->add(name, value).ok());
  std::vector<int32_t> numbers(1200);
  std::iota(numbers.begin(), numbers.end(), 0);
  auto full = tensor::from_values<int32_t>({300, 4}, numbers);
  auto slice = [&](std::vector<int64_t> offset, shape dims) {
    auto part = *tensor::make(dtype::i32, dims);
    copy_overlap(full, std::vector<int64_t>{0, 0}, part, offset);
    REQUIRE(writer->add_slice("v", full.dims(), offset, part).ok());
  };
  slice({0, 0}, {200, 4});
  slice({200, 2}, {100, 2});
  slice({200, 0}, {100, 2});
  for (int i = 0; i < 500; ++i)
    REQUIRE(writer->add(concat("layer_", i, "/weights"), tensor::scalar(i)).ok());
  REQUIRE(writer->finish().ok());
}

void write_events(const std::string& folder) {
  REQUIRE(real_files().make_folder(folder).ok());
  auto writer =
      event_writer::create(real_files(), path_in(folder, event_file_name(100, "host", 0)), 100);
  REQUIRE(writer);
  for (int i = 0; i < 10; ++i)
    REQUIRE(writer->add({100.0 + i, i, {{"loss", static_cast<float>(i) / 4}}}).ok());
  auto counts = count_histogram(tensor::vector<float>({1, 2, -1, 5}));
  auto png = read_file((data_folder("fuzz/corpus/decode_png") / "rgb.png").string());
  REQUIRE(writer->add({.seconds = 101, .step = 3, .values = {{"weights", *counts}}}).ok());
  REQUIRE(writer->add({.seconds = 101, .values = {{"input", *parse_png_header(*png)}}}).ok());
  // A GraphDef of a node whose name is "here".
  REQUIRE(writer->add({.seconds = 101, .graph_def = "\n\x06\n\x04here"}).ok());
  REQUIRE(writer->finish().ok());
}

TEST_CASE("files for other libraries are written", "[.written_files]") {
  const auto* where = std::getenv("TROUPE_WRITTEN_FILES");
  if (!where) // chosen by the name of its file
    return;
  const std::string folder{where};
  auto path = [&](std::string_view name) { return path_in(folder, name); };
  auto stored = write_safetensors(real_files(), path("types.safetensors"), every_type(),
                                  {{"made by", "troupe"}});
  REQUIRE(stored);
  checkpoint_manifest manifest;
  manifest.positions["reader"] = "\xff\0"s;
  manifest.incarnations["/job:local/task:0"] = 7;
  for (const auto& stored_tensor : *stored)
    for (const auto& [name, value] : every_type())
      if (name == stored_tensor.name)
        manifest.tensors.push_back(
            manifest_entry(stored_tensor, "types.safetensors", value.type(), value.dims()));
  REQUIRE(write_manifest(real_files(), path("manifest.json"), manifest).ok());
  write_bundle(path("bundle"));
  write_events(path("run"));
  std::vector<std::pair<std::string, tensor>> arrays{
      every_type()[0],
      {"words", tensor::vector<std::string>({"a", "bc"})},
      {"zeros", tensor::from_values<int64_t>({1000}, std::vector<int64_t>(1000))}};
  REQUIRE(write_npz(real_files(), path("stored.npz"), arrays).ok());
  REQUIRE(write_npz(real_files(), path("deflated.npz"), arrays, true).ok());
  auto wide = zip_writer::create(real_files(), path("wide.zip"), 0);
  REQUIRE(wide->add("a", "content").ok());
  REQUIRE(wide->add("b", std::string(1000, 'b'), true).ok());
  REQUIRE(wide->finish().ok());
  for (auto [name, kind] : {std::pair{"records.tfrecord", compression::none},
                            {"records.tfrecord.gz", compression::gzip},
                            {"records.tfrecord.zlib", compression::zlib}}) {
    auto writer = tfrecord_writer::create(real_files(), path(name), kind);
    for (const auto& record : {"hello"s, ""s, "\0\xff"s, std::string(700'000, 'a')})
      REQUIRE(writer->add(record).ok());
    REQUIRE(writer->finish().ok());
  }
}

} // namespace
} // namespace troupe::test::written_files_test
