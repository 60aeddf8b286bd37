// Checkpoints of version 1, merging of shards, and the names of slices in ops.
#include "tests/support/catch.hpp"
#include "tests/support/data_folder.hpp"
#include "tests/support/simulated_disk.hpp"
#include "troupe/serialization/tensor_bundle/slice_file.hpp"
#include "troupe/serialization/tensor_bundle/slice_spec.hpp"
#include "troupe/serialization/tensor_bundle/tensor_bundle.hpp"

namespace troupe::test::slice_file_test {
namespace {

using namespace std::string_literals;
using Catch::Matchers::Contains;

result<slice_file_reader> golden(const std::string& name) {
  return slice_file_reader::open(real_files(),
                                 (data_folder("serialization/goldens") / name).string());
}

std::vector<int64_t> at(int64_t row, int64_t column) { return {row, column}; }

std::vector<std::pair<std::string, tensor>> some() {
  return {{"f32", tensor::from_values<float>({2, 2}, {1, 2, 3, 4})},
          {"f16", tensor::from_values<float16>({2}, {float16{1.0f}, float16{-2.0f}})},
          {"u8", tensor::from_values<uint8_t>({3}, {0, 1, 255})},
          {"i8", tensor::from_values<int8_t>({1}, {-7})},
          {"u64", tensor::from_values<uint64_t>({1}, {uint64_t{1} << 63})},
          {"c128", tensor::from_values<std::complex<double>>({1}, {{1, -2}})},
          {"string", tensor::from_values<std::string>({2}, {"a", "\0\xff"s})},
          {"zeros", tensor::from_values<int64_t>({3}, {0, 0, 0})},
          {"none", tensor::from_values<float>({0, 2}, {})},
          {"bool", tensor::from_values<bool>({2}, {true, false})}};
}

status write_old(file_system& disk, const std::string& path) {
  slice_file_writer writer{disk, path};
  for (const auto& [name, value] : some())
    TROUPE_TRY(writer.add(name, value.dims(), std::vector<int64_t>(size_t(value.rank())), value));
  return writer.finish();
}

status write_part(file_system& disk, const std::string& prefix, int64_t first_row, int32_t value) {
  TROUPE_ASSIGN(auto writer, tensor_bundle_writer::begin(disk, prefix, true));
  TROUPE_TRY(writer.add("own/" + prefix, tensor::scalar(value)));
  TROUPE_TRY(writer.add_slice("v", {2, 2}, at(first_row, 0),
                              tensor::from_values<int32_t>({1, 2}, {value, value})));
  return writer.finish();
}

} // namespace

TEST_CASE("checkpoints of version 1 that TensorFlow has written are read") {
  auto reader = golden("first_types");
  INFO(reader.status());
  REQUIRE(reader);
  CHECK(reader->tensors().size() == 12);
  auto value = [&](const char* name) {
    auto read = reader->read(name);
    return read ? to_string(*read) : read.status().message();
  };
  CHECK(value("f32") == "f32[2,3] {0, 1, 2, 3, 4, 5}");
  CHECK(value("f64") == "f64[] {0.5}");
  CHECK(value("f16") == "f16[2] {1, -2}");
  CHECK(value("i8") == "i8[1] {-2}");
  CHECK(value("u8") == "u8[2] {1, 255}");
  CHECK(value("bool") == "bool[2] {true, false}");
  CHECK(value("empty") == "f32[0,3] {}");
  CHECK(reader->read("string")->values<std::string>()[3] == "\xff\0"s);
  CHECK(reader->read("lost").status().kind() == error_kind::not_found);
}

TEST_CASE("shards of version 1 are read by a pattern of their names") {
  auto reader = golden("first_slices-????"
                       "?-of-00002");
  INFO(reader.status());
  REQUIRE(reader);
  auto full = reader->read("v");
  REQUIRE(full);
  CHECK(full->dims() == shape{6, 4});
  for (int32_t i = 0; i < 24; ++i)
    CHECK(full->data<int32_t>()[i] == i);
  CHECK(to_string(*reader->read_slice("v", at(1, 1), {2, 2})) == "i32[2,2] {5, 6, 9, 10}");
  auto half = golden("first_slices-00001-of-00002");
  REQUIRE(half);
  CHECK(half->read_slice("v", at(3, 0), {1, 4}));
  CHECK(half->read("v").status().kind() == error_kind::failed_precondition);
  CHECK(golden("first_slices-?-of-?").status().kind() == error_kind::not_found);
}

TEST_CASE("checkpoints of version 1 survive writing and reading") {
  simulated_disk disk{1};
  REQUIRE(write_old(disk, "model"));
  auto reader = slice_file_reader::open(disk, "model");
  INFO(reader.status());
  REQUIRE(reader);
  for (const auto& [name, value] : some()) {
    auto read = reader->read(name);
    INFO(name << ": " << read.status());
    REQUIRE(read);
    CHECK(identical(*read, value));
  }
  slice_file_writer twice{disk, "twice"};
  auto scalar_one = tensor::scalar(1.0f);
  CHECK(twice.add("w", {}, {}, scalar_one));
  CHECK_THAT(twice.add("w", {}, {}, scalar_one).message(),
             Contains("twice: tensor 'w' is added twice"));
}

TEST_CASE("a file of version 1 with any damaged byte is an error") {
  simulated_disk disk{1};
  REQUIRE(write_old(disk, "model"));
  auto file_content = *read_whole(disk, "model");
  for (size_t i = 0; i < file_content.size(); ++i) {
    auto damaged = file_content;
    damaged[i] = static_cast<char>(damaged[i] ^ 0x10);
    disk.put("model", damaged);
    auto reader = slice_file_reader::open(disk, "model");
    if (!reader)
      continue; // most damage is detected
    for (const auto& [name, value] : some())
      if (auto read = reader->read(name)) // a tensor that is read is unchanged
        CHECK(identical(*read, value));
  }
  for (size_t size = 0; size < file_content.size(); size += 7) {
    disk.put("model", file_content.substr(0, size));
    CHECK_FALSE(slice_file_reader::open(disk, "model"));
  }
}

TEST_CASE("shards become one checkpoint, and their folder can be removed") {
  simulated_disk disk{1};
  REQUIRE(disk.make_folder("parts"));
  REQUIRE(write_part(disk, "parts/a", 0, 1));
  REQUIRE(write_part(disk, "parts/b", 1, 2));
  auto single_shard = tensor_bundle_reader::open(disk, "parts/a");
  REQUIRE(single_shard);
  CHECK_FALSE(single_shard->find("v")->complete);
  CHECK(single_shard->read_slice("v", at(0, 1), {1, 1}));
  CHECK_THAT(single_shard->read("v").status().message(),
             Contains("parts/a.index: tensor 'v' has 2 of"));
  std::vector<std::string> parts{"parts/a", "parts/b"};
  auto merged = merge_tensor_bundles(disk, parts, "model");
  INFO(merged);
  REQUIRE(merged);
  auto reader = tensor_bundle_reader::open(disk, "model");
  INFO(reader.status());
  REQUIRE(reader);
  CHECK(to_string(*reader->read("v")) == "i32[2,2] {1, 1, 2, 2}");
  CHECK(to_string(*reader->read("own/parts/b")) == "i32[] {2}");
  CHECK(disk.remove("parts"));
}

TEST_CASE("inconsistent shards are not merged, and stay unchanged") {
  simulated_disk disk{1};
  REQUIRE(write_part(disk, "a", 0, 1));
  REQUIRE(write_part(disk, "b", 0, 2));
  auto merge = [&](std::vector<std::string> parts, bool allow_missing = false) {
    return merge_tensor_bundles(disk, parts, "model", allow_missing);
  };
  CHECK_THAT(merge({"a", "b"}).message(), Contains("b.index: has a slice of a tensor"));
  CHECK_THAT(merge({"a", "a"}).message(), Contains("twice"));
  CHECK_THAT(merge({"a", "model"}).message(), Contains("merged into itself"));
  CHECK(merge({"a", "lost"}).kind() == error_kind::not_found);
  CHECK(merge({"lost"}, true).kind() == error_kind::not_found);
  CHECK(tensor_bundle_reader::open(disk, "a"));
  CHECK(merge({"a", "lost"}, true));
  CHECK(tensor_bundle_reader::open(disk, "model"));
}

TEST_CASE("slices are named as TensorFlow's Save ops name them") {
  auto spec = slice_spec::parse("4 5 1,2:-");
  REQUIRE(spec);
  REQUIRE(*spec);
  CHECK((*spec)->full_shape == shape{4, 5});
  CHECK((*spec)->slice.offset == std::vector<int64_t>{1, 0});
  CHECK((*spec)->slice.dims == shape{2, 5});
  CHECK_FALSE((*spec)->is_whole_tensor());
  CHECK((**slice_spec::parse("4 5 -:-")).is_whole_tensor());
  CHECK_FALSE(*slice_spec::parse(""));
  for (const auto* invalid_slice :
       {"4", "4 5 0,2", "4 0,2:-", "4 x,2", "4 0,2,3", "-4 0,2", "4 3,2", "4 0,", " 0,1",
        "4 5 0,2:", "99999999999999999999 -"}) {
    INFO(invalid_slice);
    CHECK(slice_spec::parse(invalid_slice).status().kind() == error_kind::invalid_argument);
  }
}

TEST_CASE("patterns match names of files") {
  CHECK(matches_pattern("model-00001-of-00002", "model-????"
                                                "?-of-00002"));
  CHECK(matches_pattern("model", "m*l"));
  CHECK(matches_pattern("", "*"));
  CHECK(matches_pattern("abcabd", "a*abd"));
  CHECK_FALSE(matches_pattern("model", "mode"));
  CHECK_FALSE(matches_pattern("model", "model?"));
  CHECK_FALSE(matches_pattern("ab", "a*b*c"));
}

} // namespace troupe::test::slice_file_test
