#include "troupe/serialization/checkpoint/manifest.hpp"

#include "tests/support/catch.hpp"
#include "tests/support/damage.hpp"
#include "troupe/serialization/storage/slices.hpp"

namespace troupe::test::manifest_test {
namespace {

using namespace std::string_literals;
using Catch::Matchers::Contains;

checkpoint_manifest example() {
  checkpoint_manifest manifest;
  manifest.step = 1200;
  manifest.graph_digest = "89ab";
  manifest.positions = {{"reader/0", "train.tfrecord 2048"}, {"random/\xc3\xbc", "\0\xff\x01"s}};
  manifest.incarnations = {{"/job:ps/task:0", UINT64_MAX}, {"/job:worker/task:1", 7}};
  manifest.description = {{"by", "troupe 1.0"}, {"at", "2026-11-23"}};
  manifest.tensors = {
      {"a", dtype::f32, {2, 3}, {}, "ps-0.safetensors", "a", 24, 0x0123456789abcdef},
      {"b", dtype::i64, {2, 4}, manifest_slice{{5, 4}, {0, 0}}, "ps-0.safetensors", "b/0", 64, 1},
      {"b", dtype::i64, {3, 4}, manifest_slice{{5, 4}, {2, 0}}, "ps-1.safetensors", "b/1", 96, 2},
      {"words", dtype::string, {3}, {}, "ps-1.safetensors", "words", 30, 3},
  };
  return manifest;
}

std::string refused(const std::function<void(checkpoint_manifest&)>& change) {
  auto manifest = example();
  change(manifest);
  return manifest_json(manifest).status().message();
}

// The text with a matching checksum.
std::string with_content(const std::string& from, const std::string& to) {
  auto text = *manifest_json(example());
  auto at = text.find(from);
  REQUIRE(at != text.npos);
  text.replace(at, from.size(), to);
  // The correct sum is in the error, as deliberate damage could include the checksum.
  auto error_text = parse_manifest(text, "m").status().message();
  auto sum_position = error_text.find(" is ");
  if (sum_position == error_text.npos)
    return error_text;
  auto sum = error_text.substr(sum_position + 4, 16),
       old = error_text.substr(error_text.find("should be ") + 10, 16);
  text.replace(text.find(old), 16, sum);
  return parse_manifest(text, "m").status().message();
}

TEST_CASE("a manifest survives writing and reading") {
  auto text = manifest_json(example());
  REQUIRE(text);
  auto back = parse_manifest(*text, "m");
  INFO(back.status());
  REQUIRE(back);
  CHECK(*back == example());
  auto shuffled = example();
  std::swap(shuffled.tensors[0], shuffled.tensors[2]);
  CHECK(*manifest_json(shuffled) == *text);
  CHECK(*parse_manifest(*manifest_json({}), "m") == checkpoint_manifest{});
  simulated_disk disk{1};
  CHECK(write_manifest(disk, "m", example()).ok());
  CHECK(*read_manifest(disk, "m") == example());
  CHECK(read_manifest(disk, "n").status().kind() == error_kind::not_found);
}

TEST_CASE("a damaged manifest is an error that names the file, or reads as before") {
  check_damage("manifest.json", *manifest_json(example()),
               [](file_system& disk) -> result<std::string> {
                 TROUPE_ASSIGN(auto read, read_manifest(disk, "manifest.json"));
                 return manifest_json(read);
               });
}

TEST_CASE("inconsistent manifests are refused, and the error names the tensor") {
  CHECK_THAT(refused([](auto& m) { m.tensors.push_back(m.tensors[0]); }),
             Contains("'a' is listed twice"));
  CHECK_THAT(refused([](auto& m) { m.tensors[0].file = "../x"; }),
             Contains("'a'") && Contains("'../x'"));
  for (auto file : {"", ".", "..", "/x", "a/b"})
    CHECK_FALSE(refused([&](auto& m) { m.tensors[0].file = file; }).empty());
  CHECK_THAT(refused([](auto& m) {
               m.tensors[1].slice->offset = {4, 0};
             }),
             Contains("'b'") && Contains("[2,4] at [4,0] does not lie within [5,4]"));
  CHECK_THAT(refused([](auto& m) { m.tensors[1].slice->offset = {1, 0}; }), Contains("overlap"));
  CHECK_THAT(refused([](auto& m) { m.tensors.erase(m.tensors.begin() + 1); }),
             Contains("12 of the 20 elements"));
  CHECK_THAT(refused([](auto& m) {
               m.tensors[1].slice->full_shape = {6, 4};
             }),
             Contains("different wholes"));
  CHECK_THAT(refused([](auto& m) { m.tensors[1].slice.reset(); }), Contains("'b'"));
  CHECK_THAT(refused([](auto& m) { m.tensors[0].type = dtype::none; }), Contains("no type"));
  CHECK_THAT(refused([](auto& m) { m.tensors[0].name = "\xff"; }), Contains("no UTF-8"));
}

TEST_CASE("manifests of other programs are checked, too") {
  CHECK_THAT(with_content("\"f32\"", "\"f33\""), Contains("m: tensor 'a': ") && Contains("'f33'"));
  CHECK_THAT(with_content("\"bytes\": 24", "\"bytes\": -24"), Contains("'a'"));
  CHECK_THAT(with_content("\"offset\"", "\"offend\""), Contains("'b'") && Contains("'offset'"));
  CHECK_THAT(with_content("\"step\": 1200", "\"step\": \"x\""), Contains("expected 'step'"));
  CHECK_THAT(with_content("ffffffffffffffff", "fffffffffffffff"), Contains("/job:ps/task:0"));
  CHECK_THAT(with_content("\"hex\": \"00ff01\"", "\"hex\": \"00ff0\""), Contains("'positions'"));
  CHECK_THAT(with_content("\"step\": 1200", "\"step\": 1201, \"step\": 1"),
             Contains("'step' twice"));
  auto parse_status = [](std::string_view text) { return parse_manifest(text, "m").status(); };
  CHECK_THAT(parse_status("").message(), Contains("m: is not JSON"));
  CHECK_THAT(parse_status("[]").message(), Contains("is not the manifest"));
  CHECK_THAT(parse_status(R"({"troupe":"trace"})").message(), Contains("is not the manifest"));
  auto newer = parse_status(R"({"troupe":"checkpoint","version":2})");
  CHECK(newer.kind() == error_kind::unimplemented);
  CHECK_THAT(newer.message(), Contains("version 2"));
  CHECK(parse_status(R"({"troupe":"checkpoint","version":0})").kind() == error_kind::data_loss);
}

TEST_CASE("slices are checked and copied") {
  using slices = std::vector<tensor_slice>;
  CHECK(check_cover({2, 2}, slices{{{0, 0}, {2, 1}}, {{0, 1}, {2, 1}}}).ok());
  CHECK(check_cover({2, 2}, slices{{{1, 0}, {1, 2}}, {{0, 0}, {1, 2}}, {{0, 0}, {0, 2}}}).ok());
  CHECK_FALSE(check_cover({2, 2}, slices{{{0, 0}, {2, 1}}, {{0, 0}, {2, 1}}}).ok());
  CHECK_FALSE(check_cover({2, 2}, slices{{{0, 0}, {2, 1}}}).ok());
  CHECK(check_cover({}, slices{{{}, {}}}).ok());
  CHECK_FALSE(check_cover({}, slices{{{}, {}}, {{}, {}}}).ok());
  CHECK(check_cover({0}, slices{}).ok());
  auto full = tensor::from_values<int32_t>({3, 3}, {0, 1, 2, 3, 4, 5, 6, 7, 8});
  auto part = tensor::from_values<int32_t>({2, 2}, {-1, -1, -1, -1});
  copy_overlap(full, std::vector<int64_t>{0, 0}, part, std::vector<int64_t>{1, 1});
  CHECK(to_string(part) == "i32[2,2] {4, 5, 7, 8}");
  auto beside = tensor::from_values<int32_t>({2, 2}, {9, 9, 9, 9});
  copy_overlap(beside, std::vector<int64_t>{2, 0}, full, std::vector<int64_t>{0, 0});
  CHECK(to_string(full) == "i32[3,3] {0, 1, 2, 3, 4, 5, 9, 9, 8}");
  copy_overlap(beside, std::vector<int64_t>{3, 3}, full, std::vector<int64_t>{0, 0});
  CHECK(to_string(full) == "i32[3,3] {0, 1, 2, 3, 4, 5, 9, 9, 8}");
  auto words = tensor::scalar<std::string>("x"), copy = tensor::scalar<std::string>("");
  copy_overlap(words, {}, copy, {});
  CHECK(identical(words, copy));
  auto block = tensor::from_values<int8_t>({2, 2, 2}, {0, 1, 2, 3, 4, 5, 6, 7});
  auto corner = tensor::from_values<int8_t>({2, 1, 1}, {0, 0});
  copy_overlap(block, std::vector<int64_t>{0, 0, 0}, corner, std::vector<int64_t>{0, 1, 1});
  CHECK(to_string(corner) == "i8[2,1,1] {3, 7}");
}

} // namespace
} // namespace troupe::test::manifest_test
