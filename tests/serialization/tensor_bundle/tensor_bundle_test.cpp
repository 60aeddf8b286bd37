#include "troupe/serialization/tensor_bundle/tensor_bundle.hpp"

#include "tests/support/catch.hpp"
#include "tests/support/damage.hpp"
#include "tests/support/data_folder.hpp"
#include "tests/support/repaired_table.hpp"
#include "tests/support/simulated_disk.hpp"
#include "troupe/serialization/storage/crc32c.hpp"
#include "troupe/serialization/tensor_bundle/slice_key.hpp"
#include "troupe/serialization/tensor_bundle/sorted_table.hpp"
#include "troupe/serialization/tensor_bundle/varint.hpp"

#include <numeric>

namespace troupe::test::tensor_bundle_test {
namespace {

using namespace std::string_literals;
using Catch::Matchers::Contains;

result<tensor_bundle_reader> golden(const std::string& prefix) {
  return tensor_bundle_reader::open(real_files(),
                                    (data_folder("serialization/goldens") / prefix).string());
}

std::vector<std::pair<std::string, tensor>> some() {
  return {{"f32", tensor::from_values<float>({2, 2}, {1, 2, 3, 4})},
          {"string",
           tensor::from_values<std::string>({2, 2}, {"a", "", std::string(300, 'b'), "\0\xff"s})},
          {"none", tensor::from_values<std::string>({0}, {})},
          {"bool", tensor::from_values<bool>({2}, {true, false})},
          {"step", tensor::scalar<int64_t>(7)}};
}

status write(file_system& disk, const std::string& prefix) {
  TROUPE_ASSIGN(auto writer, tensor_bundle_writer::begin(disk, prefix));
  for (const auto& [name, value] : some())
    TROUPE_TRY(writer.add(name, value));
  TROUPE_TRY(writer.add_slice("v", {3, 2}, std::vector<int64_t>{1, 0},
                              tensor::from_values<int32_t>({2, 2}, {2, 3, 4, 5})));
  TROUPE_TRY(writer.add_slice("v", {3, 2}, std::vector<int64_t>{0, 0},
                              tensor::from_values<int32_t>({1, 2}, {0, 1})));
  return writer.finish();
}

result<std::string> print(file_system& disk, const std::string& prefix) {
  TROUPE_ASSIGN(auto reader, tensor_bundle_reader::open(disk, prefix));
  std::string text;
  for (const auto& stored_tensor : reader.tensors()) {
    TROUPE_ASSIGN(auto value, reader.read(stored_tensor.name));
    text += concat(stored_tensor.name, " ", to_string(value, 1000), "; ");
  }
  return text;
}

// A disk that runs concurrent writes to the memory that it is given.
class racing_disk final : public file_system {
public:
  racing_disk(file_system& on, std::function<void()> concurrent_writes)
      : on_(on), concurrent_writes_(std::move(concurrent_writes)) {}

  result<std::unique_ptr<writable_file>> create(const std::string& path) override {
    TROUPE_ASSIGN(auto created, on_.create(path));
    return std::unique_ptr<writable_file>{
        std::make_unique<file>(std::move(created), concurrent_writes_)};
  }
  result<std::unique_ptr<readable_file>> open(const std::string& path) override {
    return on_.open(path);
  }
  status sync_folder(const std::string& folder) override { return on_.sync_folder(folder); }
  status rename(const std::string& from, const std::string& to) override {
    return on_.rename(from, to);
  }
  status remove(const std::string& path) override { return on_.remove(path); }
  status make_folder(const std::string& path) override { return on_.make_folder(path); }
  result<std::vector<file_info>> list(const std::string& path) override { return on_.list(path); }
  result<file_info> inspect(const std::string& path) override { return on_.inspect(path); }
  result<uint64_t> free_space(const std::string& path) override { return on_.free_space(path); }

private:
  class file final : public writable_file {
  public:
    file(std::unique_ptr<writable_file> to, const std::function<void()>& concurrent_writes)
        : to_(std::move(to)), concurrent_writes_(concurrent_writes) {}
    const std::string& path() const noexcept override { return to_->path(); }
    uint64_t size() const noexcept override { return to_->size(); }
    status append(std::span<const std::byte> bytes) override {
      concurrent_writes_();
      return to_->append(bytes);
    }
    status sync() override { return to_->sync(); }

  private:
    std::unique_ptr<writable_file> to_;
    const std::function<void()>& concurrent_writes_;
  };

  file_system& on_;
  std::function<void()> concurrent_writes_;
};

TEST_CASE("concurrent unlocked updates do not cause wrong checksums") {
  simulated_disk disk{1};
  auto value = tensor::from_values<float>({4}, {1, 2, 3, 4});
  auto* memory = static_cast<float*>(const_cast<void*>(value.raw()));
  racing_disk racing{disk, [&] { memory[2] += 1; }};
  auto writer = tensor_bundle_writer::begin(racing, "model");
  REQUIRE(writer);
  REQUIRE(writer->add("racy", value));
  REQUIRE(writer->finish());
  auto reader = tensor_bundle_reader::open(disk, "model");
  REQUIRE(reader);
  auto read = reader->read("racy");
  INFO(read.status());
  CHECK(read.ok());
}

TEST_CASE("checkpoints that TensorFlow has written are read") {
  auto reader = golden("types");
  INFO(reader.status());
  REQUIRE(reader);
  CHECK(reader->tensors().size() == 18);
  auto value = [&](const char* name) {
    auto read = reader->read(name);
    return read ? to_string(*read) : read.status().message();
  };
  CHECK(value("f32") == "f32[2,3] {0, 1, 2, 3, 4, 5}");
  CHECK(value("f64") == "f64[] {0.5}");
  CHECK(value("f16") == "f16[2] {1, -2}");
  CHECK(value("bf16") == "bf16[2] {1, -2}");
  CHECK(value("i64") == "i64[1] {-5}");
  CHECK(value("i32") == "i32[1] {-4}");
  CHECK(value("i16") == "i16[1] {-3}");
  CHECK(value("i8") == "i8[1] {-2}");
  CHECK(value("u64") == "u64[1] {5}");
  CHECK(value("u32") == "u32[1] {4}");
  CHECK(value("u16") == "u16[1] {3}");
  CHECK(value("u8") == "u8[2] {1, 255}");
  CHECK(value("bool") == "bool[2] {true, false}");
  CHECK(value("empty") == "f32[0,3] {}");
  CHECK(value("scalar/string") == "string[] {\"text\"}");
  CHECK(identical(*reader->read("c64"), tensor::vector<std::complex<float>>({{1, -2}})));
  CHECK(identical(*reader->read("c128"), tensor::vector<std::complex<double>>({{1, -2}})));
  CHECK(identical(
      *reader->read("string"),
      tensor::from_values<std::string>({2, 2}, {"a", "", std::string(200, 'b'), "\xff\0"s})));
  CHECK(reader->read("no").status().kind() == error_kind::not_found);
}

TEST_CASE("slices of partitioned variables in several files are joined") {
  auto reader = golden("slices");
  INFO(reader.status());
  REQUIRE(reader);
  CHECK(reader->find("v")->slices.size() == 3);
  std::vector<int32_t> numbers(1200);
  std::iota(numbers.begin(), numbers.end(), 0);
  auto full = tensor::from_values<int32_t>({300, 4}, numbers);
  CHECK(identical(*reader->read("v"), full));
  CHECK(to_string(*reader->read("w")) == R"(string[2] {"first", "second"})");
  CHECK(to_string(*reader->read("step")) == "i64[] {7}");
  auto part = reader->read_slice("v", std::vector<int64_t>{199, 1}, {2, 2});
  CHECK(to_string(*part) == "i32[2,2] {797, 798, 801, 802}");
  CHECK(reader->read_slice("v", std::vector<int64_t>{299, 0}, {2, 4}).status().kind() ==
        error_kind::invalid_argument);
  CHECK_FALSE(reader->read_slice("v", std::vector<int64_t>{0}, {2, 4}));
  CHECK(to_string(*golden("types")->read_slice("f32", std::vector<int64_t>{1, 1}, {1, 2})) ==
        "f32[1,2] {4, 5}");
}

TEST_CASE("an index of several blocks, and the checkpoints of objects, are read") {
  auto many_tensors = golden("many");
  REQUIRE(many_tensors);
  CHECK(many_tensors->tensors().size() == 200);
  CHECK(to_string(*many_tensors->read("layer_123/weights")) == "i32[1] {123}");
  auto objects = golden("objects");
  REQUIRE(objects);
  CHECK(to_string(*objects->read("v/.ATTRIBUTES/VARIABLE_VALUE")) == "f32[2] {1, 2}");
  CHECK(objects->read("_CHECKPOINTABLE_OBJECT_GRAPH")->type() == dtype::string);
}

TEST_CASE("an index whose blocks are compressed with Snappy is read like an uncompressed one") {
  auto compressed = golden("compressed"), plain = golden("many");
  INFO(compressed.status());
  REQUIRE(compressed);
  REQUIRE(compressed->tensors().size() == 200);
  for (const auto& plain_tensor : plain->tensors())
    CHECK(identical(*compressed->read(plain_tensor.name), *plain->read(plain_tensor.name)));
}

TEST_CASE("compressed blocks that are damaged are errors, and cannot take much memory") {
  auto file = *read_whole(real_files(),
                          (data_folder("serialization/goldens") / "compressed.index").string());
  const auto all_rows = *read_sorted_table(file);
  for (size_t i = 0; i + 48 < file.size(); i += 3) {
    auto damaged = file;
    damaged[i] = static_cast<char>(damaged[i] ^ 0x55);
    auto rows = read_sorted_table(damaged);
    CHECK((!rows || *rows == all_rows)); // a block without rows is not read
    (void)read_repaired_table(damaged);  // it only has to terminate
  }
  auto with_index = [](std::string block, char kind) {
    block += kind;
    auto crc = masked_crc32c(std::as_bytes(std::span{block}));
    auto bytes = block.size() - 1;
    block.append(reinterpret_cast<const char*>(&crc), sizeof crc);
    std::string footer;
    for (auto field : {size_t{0}, size_t{0}, size_t{0}, bytes})
      append_varint(footer, field);
    footer.resize(40);
    return read_sorted_table(block + footer +
                             write_sorted_table({}).substr(write_sorted_table({}).size() - 8))
        .status();
  };
  std::string bomb;
  append_varint(bomb, uint64_t{1} << 31); // the claimed length
  CHECK_THAT(with_index(bomb + "\xff\xff\xff", 1).message(), Contains("cannot have that length"));
  CHECK_THAT(with_index("\x0a\xff\xff", 1).message(), Contains("cannot be decompressed"));
  auto unknown = with_index("\x0a\xff\xff", 4);
  CHECK(unknown.kind() == error_kind::unimplemented);
  CHECK_THAT(unknown.message(), Contains("kind 4") && Contains("save the checkpoint again"));
}

TEST_CASE("tensors survive writing and reading in TensorFlow's format") {
  simulated_disk disk{1};
  REQUIRE(write(disk, "model").ok());
  CHECK(disk.list(".")->size() == 2);
  auto reader = tensor_bundle_reader::open(disk, "model");
  INFO(reader.status());
  REQUIRE(reader);
  for (const auto& [name, value] : some())
    CHECK(identical(*reader->read(name), value));
  CHECK(to_string(*reader->read("v")) == "i32[3,2] {0, 1, 2, 3, 4, 5}");
}

TEST_CASE("a damaged checkpoint in TensorFlow's format is an error, or reads as before") {
  simulated_disk disk{1};
  REQUIRE(write(disk, "m").ok());
  auto index = disk.content("m.index"), data = disk.content("m.data-00000-of-00001");
  auto read = [](file_system& at) { return print(at, "m"); };
  check_damage("m.index", index, read,
               [&](simulated_disk& at) { at.put("m.data-00000-of-00001", data); });
  check_damage("m.data-00000-of-00001", data, read,
               [&](simulated_disk& at) { at.put("m.index", index); });
}

TEST_CASE(
    "a checkpoint in TensorFlow's format with a missing file is an error that names the file") {
  simulated_disk disk{1};
  REQUIRE(write(disk, "m").ok());
  REQUIRE(disk.remove("m.data-00000-of-00001").ok());
  auto missing = tensor_bundle_reader::open(disk, "m").status();
  CHECK(missing.kind() == error_kind::not_found);
  CHECK_THAT(missing.message(), Contains("m.data-00000-of-00001"));
  CHECK(tensor_bundle_reader::open(disk, "n").status().kind() == error_kind::not_found);
}

TEST_CASE("a checkpoint in TensorFlow's format is complete or absent") {
  for (uint64_t seed = 0; seed < 100; ++seed) {
    simulated_disk disk{seed};
    disk.crash_in(1 + seed % 25);
    auto done = write(disk, "m");
    if (!disk.crashed())
      disk.crash();
    disk.restart();
    auto text = print(disk, "m");
    INFO(text.status());
    CHECK((text || !done.ok()));
    if (!text)
      CHECK(text.status().kind() == error_kind::not_found); // the index is missing
  }
}

TEST_CASE("a writer of TensorFlow's format refuses tensors that could not be read") {
  simulated_disk disk{1};
  auto writer = tensor_bundle_writer::begin(disk, "m");
  auto vector = tensor::vector<float>({1});
  CHECK(writer->add("a", vector).ok());
  CHECK_THAT(writer->add("a", vector).message(), Contains("'a' is added twice"));
  CHECK_FALSE(writer->add("", vector).ok());
  CHECK_FALSE(writer->add("b", tensor{}).ok());
  std::vector<int64_t> first{0};
  CHECK_FALSE(writer->add_slice("a", {2}, first, vector).ok());
  CHECK(writer->add_slice("s", {2}, first, vector).ok());
  CHECK_THAT(writer->add_slice("s", {2}, first, vector).message(), Contains("slice twice"));
  CHECK_FALSE(writer->add_slice("s", {3}, first, vector).ok());
  CHECK_FALSE(writer->add_slice("s", {2}, std::vector<int64_t>{2}, vector).ok());
  CHECK_THAT(writer->finish().message(), Contains("'s'") && Contains("1 of the 2 elements"));
}

TEST_CASE("a sorted table survives writing and reading") {
  std::vector<table_row> rows;
  CHECK(*read_sorted_table(write_sorted_table(rows)) == rows);
  rows.push_back({"", "empty key"});
  for (int i = 0; i < 1000; ++i)
    rows.push_back({concat("key/", 10000 + i), std::string(static_cast<size_t>(i % 50), 'v')});
  rows.push_back({"z", std::string(20000, 'z')});
  auto file = write_sorted_table(rows);
  auto read = read_sorted_table(file);
  INFO(read.status());
  REQUIRE(read);
  CHECK(*read == rows);
}

TEST_CASE("sorted tables that refer beyond the file are refused") {
  auto file = write_sorted_table({{"a", "1"}});
  auto footer = [&](uint64_t offset, uint64_t size) {
    std::string text;
    for (auto field : {uint64_t{0}, uint64_t{0}, offset, size})
      append_varint(text, field);
    text.resize(40);
    return read_sorted_table(file.substr(0, file.size() - 48) + text + file.substr(file.size() - 8))
        .status();
  };
  for (auto size : {UINT64_MAX, UINT64_MAX - 4, uint64_t{1} << 40, uint64_t{file.size()}})
    CHECK_THAT(footer(0, size).message(), Contains("the block at byte 0 is listed with"));
  CHECK_FALSE(footer(UINT64_MAX, 1).ok());
  CHECK_THAT(read_sorted_table("").status().message(), Contains("too short"));
  CHECK_THAT(read_sorted_table(std::string(100, 'x')).status().message(), Contains("LevelDB"));
  CHECK_THAT(read_sorted_table(file.substr(0, file.size() - 1)).status().message(),
             Contains("cut off"));
}

TEST_CASE("numbers in the keys of slices sort numerically") {
  auto key = [](int64_t start) { return slice_key("v", std::vector<slice_extent>{{start, -1}}); };
  std::string previous_key;
  for (auto start : {INT64_MIN, INT64_MIN + 1, int64_t{-1} << 56, int64_t{-8193}, int64_t{-8192},
                     int64_t{-65}, int64_t{-64}, int64_t{-1}, int64_t{0}, int64_t{63}, int64_t{64},
                     int64_t{8191}, int64_t{8192}, int64_t{1} << 40, INT64_MAX}) {
    CHECK(previous_key < key(start));
    previous_key = key(start);
  }
  CHECK(slice_key("a\0\xff"s, {}) == "\0a\0\xff\xff\0\0\1\0"s);
  CHECK(key(0) == "\0v\0\1\1\1\x80\x7f"s);
  CHECK(key(200) == "\0v\0\1\1\1\xc0\xc8\x7f"s);
}

} // namespace
} // namespace troupe::test::tensor_bundle_test
