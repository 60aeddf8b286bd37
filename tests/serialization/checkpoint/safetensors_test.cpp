#include "troupe/serialization/checkpoint/manifest.hpp"

#include "tests/support/catch.hpp"
#include "tests/support/damage.hpp"
#include "tests/support/data_folder.hpp"
#include "troupe/runtime/types/printable.hpp"
#include "troupe/serialization/storage/file.hpp"

#include <algorithm>
#include <numeric>

namespace troupe::test::safetensors_test {
namespace {

using namespace std::string_literals;
using Catch::Matchers::Contains;
using named = std::pair<std::string, tensor>;

std::vector<named> every_type() {
  return {
      {"f32", tensor::from_values<float>({1, 2, 1}, {1, 2})},
      {"f64", tensor::scalar(2.5)},
      {"i64", tensor::vector<int64_t>({INT64_MIN, 7})},
      {"i32", tensor::vector<int32_t>({-1})},
      {"i16", tensor::vector<int16_t>({-1})},
      {"i8", tensor::vector<int8_t>({-1, 2, 3})},
      {"u64", tensor::vector<uint64_t>({UINT64_MAX})},
      {"u32", tensor::vector<uint32_t>({7})},
      {"u16", tensor::vector<uint16_t>({7})},
      {"u8", tensor::from_values<uint8_t>({0, 3}, {})},
      {"bool", tensor::from_values<bool>({2}, {true, false})},
      {"f16", tensor::vector<float16>({float16{0.5f}})},
      {"bf16", tensor::vector<bfloat16>({bfloat16{0.5f}})},
      {"c64", tensor::vector<std::complex<float>>({{1, 2}})},
      {"c128", tensor::from_values<std::complex<double>>({2, 1}, {{1, 2}, {3, 4}})},
      {"string", tensor::from_values<std::string>({2, 2}, {"a", "", "long\0er"s, "\xff"})},
      {"no strings", tensor::from_values<std::string>({0, 4}, {})},
      {"name \"\u00fc\"\n", tensor::from_values<float>({1, 1, 1, 1, 1, 1, 1, 1}, {1})},
  };
}

std::string written(std::span<const named> tensors, const safetensors_metadata& metadata = {}) {
  simulated_disk disk{1};
  auto stored = write_safetensors(disk, "x", tensors, metadata);
  INFO(stored.status());
  REQUIRE(stored);
  return disk.content("x");
}

// A file with any header.
std::string file(std::string header, const std::string& data = "") {
  uint64_t length = header.size();
  return std::string(reinterpret_cast<const char*>(&length), 8) + header + data;
}

status error(const std::string& content) {
  simulated_disk disk{1};
  disk.put("x", content);
  return safetensors_reader::open(disk, "x").status();
}

std::vector<manifest_tensor> described(std::span<const named> tensors,
                                       std::span<const stored_tensor> stored) {
  std::vector<manifest_tensor> entries;
  for (const auto& entry : stored)
    for (const auto& [name, value] : tensors)
      if (name == entry.name)
        entries.push_back(manifest_entry(entry, "x", value.type(), value.dims()));
  return entries;
}

// Describes the tensors of a manifest from the contents of a file.
result<std::string> print(file_system& disk, const std::string& path,
                          std::span<const manifest_tensor> described) {
  TROUPE_ASSIGN(auto reader, safetensors_reader::open(disk, path));
  std::string text;
  for (const auto& expected_tensor : described) {
    TROUPE_ASSIGN(auto value, read_stored(reader, expected_tensor));
    text += concat(expected_tensor.name, ": ", to_string(value, 1000), ";");
  }
  return text;
}

TEST_CASE("every type survives a file of safetensors") {
  auto tensors = every_type();
  simulated_disk disk{1};
  auto stored = write_safetensors(disk, "x", tensors, {{"format", "pt"}, {"who", "we"}});
  REQUIRE(stored);
  auto reader = safetensors_reader::open(disk, "x");
  INFO(reader.status());
  REQUIRE(reader);
  CHECK(reader->metadata() == safetensors_metadata{{"format", "pt"}, {"who", "we"}});
  CHECK(reader->tensors().size() == tensors.size());
  for (const auto& [name, value] : tensors) {
    INFO(name);
    auto sum = std::ranges::find(*stored, name, &stored_tensor::name);
    REQUIRE(sum != stored->end());
    auto back = reader->read(name, sum->checksum);
    INFO(back.status());
    REQUIRE(back);
    CHECK(identical(*back, value));
    CHECK(*reader->checksum(name) == sum->checksum);
    CHECK(reader->find(name)->end - reader->find(name)->begin == sum->bytes);
    auto wrong_sum = reader->read(name, sum->checksum + 1);
    CHECK(wrong_sum.status().kind() == error_kind::data_loss);
    CHECK_THAT(wrong_sum.status().message(), Contains(printable(name)) && Contains("checksum"));
  }
  CHECK(reader->read("none").status().kind() == error_kind::not_found);
}

TEST_CASE("a file without tensors is valid") {
  simulated_disk disk{1};
  REQUIRE(write_safetensors(disk, "x", {}));
  CHECK(safetensors_reader::open(disk, "x")->tensors().empty());
  CHECK(disk.content("x").size() == 64);
}

TEST_CASE("the elements begin at a multiple of 64 bytes, each at a multiple of its size") {
  auto tensors = every_type();
  tensors.push_back({"block", tensor::from_values<uint8_t>({64}, std::vector<uint8_t>(64))});
  auto content = written(tensors);
  uint64_t length = 0;
  std::memcpy(&length, content.data(), 8);
  CHECK((8 + length) % 64 == 0);
  simulated_disk disk{1};
  disk.put("x", content);
  auto reader = safetensors_reader::open(disk, "x");
  for (const auto& stored_tensor : reader->tensors()) {
    INFO(stored_tensor.name);
    auto bytes = stored_tensor.type == dtype::string ? 1
                 : stored_tensor.type == dtype::c128 ? 8
                                                     : size_of(stored_tensor.type);
    CHECK(stored_tensor.begin % bytes == 0);
    if (stored_tensor.name == "block")
      CHECK(stored_tensor.begin % 64 == 0);
  }
}

TEST_CASE("rows are read without the others") {
  std::vector<int32_t> numbers(60);
  std::iota(numbers.begin(), numbers.end(), 0);
  std::vector<named> tensors{
      {"n", tensor::from_values<int32_t>({10, 2, 3}, numbers)},
      {"s", tensor::from_values<std::string>({3, 2}, {"a", "bb", "", "dddd", "e", "f"})},
      {"c", tensor::vector<std::complex<double>>({{1, 2}, {3, 4}})},
      {"scalar", tensor::scalar(1.0f)},
      {"empty", tensor::from_values<float>({0, 7}, {})}};
  simulated_disk disk{1};
  REQUIRE(write_safetensors(disk, "x", tensors));
  auto reader = safetensors_reader::open(disk, "x");
  CHECK(to_string(*reader->read_rows("n", 2, 1)) == "i32[1,2,3] {12, 13, 14, 15, 16, 17}");
  CHECK(to_string(*reader->read_rows("n", 10, 0)) == "i32[0,2,3] {}");
  CHECK(identical(*reader->read_rows("n", 0, 10), tensors[0].second));
  CHECK(to_string(*reader->read_rows("s", 1, 2)) == R"(string[2,2] {"", "dddd", "e", "f"})");
  CHECK(to_string(*reader->read_rows("s", 3, 0)) == "string[0,2] {}");
  CHECK(identical(*reader->read_rows("c", 1, 1), tensor::vector<std::complex<double>>({{3, 4}})));
  CHECK(reader->read_rows("empty", 0, 0));
  for (auto [first, count] : {std::pair{-1, 1}, {0, -1}, {10, 1}, {11, 0}, {1, INT32_MAX}})
    CHECK(reader->read_rows("n", first, count).status().kind() == error_kind::invalid_argument);
  CHECK_FALSE(reader->read_rows("scalar", 0, 1));
}

TEST_CASE("many and long strings survive") {
  std::vector<std::string> words;
  for (int i = 0; i < 3000; ++i)
    words.push_back(std::string(static_cast<size_t>(i % 700), static_cast<char>('a' + i % 26)));
  words.push_back(std::string(3 << 20, 'x'));
  words.push_back("last");
  std::vector<named> tensors{{"s", tensor::vector<std::string>(words)}};
  simulated_disk disk{1};
  auto stored = write_safetensors(disk, "x", tensors);
  auto reader = safetensors_reader::open(disk, "x");
  CHECK(identical(*reader->read("s", stored->at(0).checksum), tensors[0].second));
  CHECK(reader->read_rows("s", 3000, 2)->values<std::string>()[1] == "last");
}

TEST_CASE("a tensor that was damaged on the disk is an error, or reads as before") {
  auto tensors = every_type();
  simulated_disk disk{1};
  auto stored = write_safetensors(disk, "dir.x", tensors, {{"who", "we"}});
  REQUIRE(stored);
  auto expected_tensors = described(tensors, *stored);
  check_damage("dir.x", disk.content("dir.x"),
               [&](file_system& at) { return print(at, "dir.x", expected_tensors); });
}

namespace {

std::string message_of(const std::string& content) { return error(content).message(); }

// A file with the tensor "t".
std::string tensor_file(const std::string& type, const std::string& dims,
                        const std::string& offsets, const std::string& data = "12345678") {
  return file(R"({"t":{"dtype":")" + type + R"(","shape":)" + dims + R"(,"data_offsets":)" +
                  offsets + "}}",
              data);
}

} // namespace

TEST_CASE("files without a valid header are refused with the reason") {
  CHECK_THAT(message_of(""), Contains("x: has 0 bytes"));
  CHECK_THAT(message_of("1234567"), Contains("too short"));
  CHECK_THAT(message_of("\xff\xff\xff\xff\xff\xff\xff\xff"), Contains("its header would have"));
  CHECK_THAT(message_of(file("{}").substr(0, 9)), Contains("cut off"));
  CHECK_THAT(message_of(file("[]")), Contains("does not begin with '{'"));
  CHECK_THAT(message_of(file(" {}")), Contains("does not begin with '{'"));
  CHECK_THAT(message_of(file("{} x")), Contains("is not JSON"));
  CHECK_THAT(message_of(file("{\"\xff\": {}}")), Contains("is not JSON"));
  CHECK_THAT(message_of(file("{}", "a")), Contains("1 follow the header"));
}

TEST_CASE("tensors whose types, shapes or positions are invalid are refused with the reason") {
  CHECK(error(tensor_file("F32", "[2]", "[0,8]")).ok());
  CHECK(error(tensor_file("F4", "[16]", "[0,8]")).ok());
  CHECK_THAT(message_of(tensor_file("F4", "[15]", "[0,8]")), Contains("does not take the bytes"));
  CHECK_THAT(message_of(tensor_file("F32", "[1]", "[0,8]")), Contains("'t'") && Contains("F32[1]"));
  CHECK_THAT(message_of(tensor_file("F32", "[2]", "[8,0]")), Contains("from 8 to 0"));
  CHECK_THAT(message_of(tensor_file("F32", "[2]", "[0,8]", "1234")), Contains("cut off"));
  CHECK_THAT(message_of(tensor_file("F32", "[1]", "[4,8]")), Contains("after a gap"));
  CHECK_THAT(message_of(tensor_file("F32", "[-2]", "[0,8]")), Contains("-2"));
  CHECK_THAT(message_of(tensor_file("F32", "[2.0]", "[0,8]")), Contains("2.0"));
  CHECK_THAT(message_of(tensor_file("F32", "[4611686018427387904,4]", "[0,8]")),
             Contains("elements"));
  CHECK_THAT(message_of(tensor_file("F32", "[18446744073709551615]", "[0,8]")),
             Contains("not a valid extent"));
  CHECK_THAT(message_of(tensor_file("F32", "[1e999]", "[0,8]")), Contains("number overflow"));
  CHECK_THAT(message_of(tensor_file("F32", "[2]", "[0,8,9]")), Contains("two data_offsets"));
  CHECK_THAT(message_of(tensor_file("F32", "2", "[0,8]")), Contains("expected dtype, shape"));
  CHECK_THAT(message_of(tensor_file("F32", "[1,1,1,1,1,1,1,1,2]", "[0,8]")), Contains("8"));
  CHECK_THAT(message_of(tensor_file("F32", "[[[[2]]]]", "[0,8]")), Contains("nested"));
  CHECK(error(tensor_file("X9", "[2]", "[0,8]")).kind() == error_kind::unimplemented);
}

TEST_CASE("tensors that overlap or have one name are refused with the reason") {
  CHECK_THAT(message_of(file(R"({"a":{"dtype":"U8","shape":[2],"data_offsets":[0,2]},)"
                             R"("b":{"dtype":"U8","shape":[2],"data_offsets":[1,3]}})",
                             "123")),
             Contains("'b'") && Contains("within the previous one"));
  CHECK_THAT(message_of(file(R"({"a":{"dtype":"U8","shape":[0],"data_offsets":[0,0]},)"
                             R"("a":{"dtype":"U8","shape":[0],"data_offsets":[0,0]}})")),
             Contains("'a' twice"));
  CHECK_THAT(message_of(file(R"({"a":{"dtype":"U8","dtype":"U8"}})")), Contains("'dtype' twice"));
}

TEST_CASE("invalid notes of a file are refused with the reason") {
  CHECK_THAT(message_of(file(R"({"__metadata__":{"a":1}})")), Contains("is not a string"));
  CHECK_THAT(message_of(file(R"({"__metadata__":[]})")), Contains("is not an object"));
  CHECK_THAT(message_of(file(R"({"__metadata__":{"troupe.type.t":"string[1]"}})")),
             Contains("'t'"));
  auto marked = [&](const std::string& mark, const std::string& type, const std::string& dims) {
    return error(file(R"({"__metadata__":{"troupe.type.t":")" + mark + R"("},"t":{"dtype":")" +
                          type + R"(","shape":)" + dims + R"(,"data_offsets":[0,16]}})",
                      std::string(16, '\0')));
  };
  CHECK(marked("string[2]", "U8", "[16]").ok());
  CHECK(marked("c128[]", "F64", "[1,2]").ok());
  for (auto mark : {"string[3]", "string[-1]", "string[02]", "string[2", "string", "string[2]]",
                    "string[2,]", "f32[1]", "c128[1]", "", "x[1]", "string[9999999999999999999]"})
    CHECK_FALSE(marked(mark, "U8", "[16]").ok());
  CHECK_FALSE(marked("c128[2]", "F64", "[2]").ok());
}

TEST_CASE("a file with a tensor that cannot be read is opened, and only its read fails") {
  simulated_disk disk{1};
  disk.put("x", tensor_file("F8_E4M3", "[8]", "[0,8]"));
  auto reader = safetensors_reader::open(disk, "x");
  REQUIRE(reader);
  CHECK(reader->find("t")->stored_as == "F8_E4M3");
  CHECK(reader->read("t").status().kind() == error_kind::unimplemented);
  disk.put("x", tensor_file("BOOL", "[8]", "[0,8]"));
  CHECK(safetensors_reader::open(disk, "x")->read("t").status().kind() == error_kind::data_loss);
}

TEST_CASE("strings whose lengths do not fit are refused") {
  auto content = written(std::vector<named>{{"s", tensor::vector<std::string>({"ab", "c"})}});
  simulated_disk disk{1};
  auto at = content.size() - 19; // two lengths and three letters
  for (uint64_t length : {uint64_t{0}, uint64_t{3}, uint64_t{4}, UINT64_MAX, UINT64_MAX - 1}) {
    std::memcpy(content.data() + at, &length, 8);
    disk.put("x", content);
    auto read = safetensors_reader::open(disk, "x")->read("s");
    CHECK(read.status().kind() == error_kind::data_loss);
    CHECK_THAT(read.status().message(), Contains("'s'"));
  }
}

TEST_CASE("invalid tensors are refused before a file is created") {
  simulated_disk disk{1};
  auto message_of = [&](std::vector<named> tensors, const safetensors_metadata& metadata = {}) {
    auto stored = write_safetensors(disk, "x", tensors, metadata);
    CHECK_FALSE(disk.open("x"));
    return stored.status().message();
  };
  auto scalar_one = tensor::scalar(1.0f);
  CHECK_THAT(message_of({{"a", scalar_one}, {"a", scalar_one}}),
             Contains("two tensors are called 'a'"));
  CHECK_THAT(message_of({{"\xff", scalar_one}}), Contains("no UTF-8"));
  CHECK_THAT(message_of({{"__metadata__", scalar_one}}), Contains("__metadata__"));
  CHECK_THAT(message_of({{"a", tensor{}}}), Contains("'a'"));
  CHECK_THAT(message_of({}, {{"troupe.type.a", "x"}}), Contains("reserved"));
  CHECK_THAT(message_of({}, {{"a", "\xff"}}), Contains("no UTF-8"));
}

TEST_CASE("a writer takes exactly the tensors that were announced") {
  simulated_disk disk{1};
  auto vector = tensor::vector<float>({1, 2});
  auto writer = safetensors_writer::begin(disk, "x", {safetensors_item::of("a", vector)});
  REQUIRE(writer);
  CHECK_THAT(writer->finish().status().message(), Contains("'a'") && Contains("missing"));
  CHECK_THAT(writer->add(tensor::vector<float>({1})).message(), Contains("f32[2], but is f32[1]"));
  CHECK_FALSE(writer->add(tensor{}).ok());
  CHECK(writer->add(vector).ok());
  CHECK_FALSE(writer->add(vector).ok());
  CHECK(writer->finish());
}

TEST_CASE("writing safetensors to a disk that fails or crashes is an error, never a wrong file") {
  auto tensors = every_type();
  const auto file_content = written(tensors);
  for (uint64_t seed = 0; seed < 100; ++seed) {
    simulated_disk disk{seed};
    disk.crash_in(1 + seed % 30);
    auto stored = write_safetensors(disk, "x", tensors);
    auto is_synced = stored.ok() && disk.sync_folder(".").ok();
    if (!disk.crashed())
      disk.crash();
    disk.restart();
    if (is_synced)
      CHECK(disk.content("x") == file_content);
  }
  simulated_disk full{1, {.capacity = file_content.size() - 1}};
  CHECK(write_safetensors(full, "x", tensors).status().kind() == error_kind::resource_exhausted);
  simulated_disk failing{1, {.failing_syncs = 1}};
  CHECK_FALSE(write_safetensors(failing, "x", tensors));
  simulated_disk flips{1};
  auto stored = write_safetensors(flips, "x", tensors);
  auto expected_tensors = described(tensors, *stored);
  auto undamaged = *print(flips, "x", expected_tensors);
  for (int i = 0; i < 200; ++i) {
    flips.faults = {.failing_reads = 0.05, .flipped_bits = 0.05};
    auto text = print(flips, "x", expected_tensors);
    CHECK((!text || *text == undamaged));
  }
}

TEST_CASE("files that the safetensors library has written are read") {
  auto content = read_file((data_folder("serialization/goldens") / "types.safetensors").string());
  REQUIRE(content);
  simulated_disk disk{1};
  disk.put("x", *content);
  auto reader = safetensors_reader::open(disk, "x");
  INFO(reader.status());
  REQUIRE(reader);
  CHECK(reader->metadata().at("made by") == "safetensors");
  auto value = [&](const char* name) { return to_string(*reader->read(name)); };
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
  CHECK(identical(*reader->read("c64"), tensor::vector<std::complex<float>>({{1, -2}})));
}

} // namespace
} // namespace troupe::test::safetensors_test
