#include "troupe/serialization/arrays/npz.hpp"

#include "tests/support/catch.hpp"
#include "tests/support/damage.hpp"
#include "tests/support/data_folder.hpp"

namespace troupe::test::npz_test {
namespace {

using namespace std::string_literals;
using Catch::Matchers::Contains;

std::vector<std::pair<std::string, tensor>> some() {
  return {{"a", tensor::from_values<float>({2, 2}, {1, 2, 3, 4})},
          {"folder/b", tensor::from_values<std::string>({2}, {"x", "yz"})},
          {"zeros", tensor::from_values<uint8_t>({5000}, std::vector<uint8_t>(5000))},
          {"none", tensor::from_values<int64_t>({0}, {})}};
}

result<std::string> print(file_system& disk, const std::string& path) {
  TROUPE_ASSIGN(auto reader, npz_reader::open(disk, path));
  std::string text;
  for (const auto& name : reader.names()) {
    TROUPE_ASSIGN(auto value, reader.read(name));
    text += concat(name, ": ", to_string(value), "; ");
  }
  return text;
}

TEST_CASE("arrays survive a .npz file, deflated or not") {
  for (bool deflate : {false, true}) {
    simulated_disk disk{1};
    REQUIRE(write_npz(disk, "x.npz", some(), deflate).ok());
    CHECK((disk.content("x.npz").size() < 5000) == deflate);
    auto reader = npz_reader::open(disk, "x.npz");
    INFO(reader.status());
    REQUIRE(reader);
    CHECK(reader->names() == std::vector<std::string>{"a", "folder/b", "zeros", "none"});
    for (const auto& [name, value] : some())
      CHECK(identical(*reader->read(name), value));
    CHECK(reader->read("c").status().kind() == error_kind::not_found);
    REQUIRE(write_npz(disk, "none", {}).ok());
    CHECK(npz_reader::open(disk, "none")->names().empty());
    CHECK_FALSE(write_npz(disk, "y", std::vector{some()[0], some()[0]}).ok());
    CHECK_THAT(write_npz(disk, "y", std::vector{std::pair{"q"s, tensor{}}}).message(),
               Contains("y: array 'q'"));
  }
}

TEST_CASE("archives that NumPy has written are read") {
  for (auto name : {"stored.npz", "deflated.npz"}) {
    auto text = print(real_files(), (data_folder("serialization/goldens") / name).string());
    INFO(text.status());
    REQUIRE(text);
    CHECK(*text == "f32: f32[2,3] {0, 1, 2, 3, 4, 5}; words: string[2] {\"a\", \"bc\"}; "
                   "zeros: i64[1000] {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, ...}; ");
  }
}

TEST_CASE("archives with 64-bit sizes are read") {
  for (bool deflate : {false, true}) {
    simulated_disk disk{1};
    auto writer = zip_writer::create(disk, "x", 0);
    CHECK(writer->add("a", "content", deflate).ok());
    CHECK(writer->add("b", std::string(1000, 'b'), deflate).ok());
    CHECK(writer->finish().ok());
    auto reader = zip_reader::open(disk, "x");
    INFO(reader.status());
    REQUIRE(reader);
    CHECK(*reader->read(reader->entries()[0]) == "content");
    CHECK(*reader->read(reader->entries()[1]) == std::string(1000, 'b'));
  }
}

TEST_CASE("an archive of many files is read") {
  simulated_disk disk{1};
  auto writer = zip_writer::create(disk, "x");
  constexpr int count = 300;
  for (int i = 0; i < count; ++i)
    CHECK(writer->add(concat(i), concat("content of ", i)).ok());
  CHECK(writer->finish().ok());
  auto reader = zip_reader::open(disk, "x");
  CHECK(reader->entries().size() == count);
  CHECK(*reader->read(reader->entries()[299]) == "content of 299");
}

TEST_CASE("a damaged .npz file is an error, or reads as before") {
  std::vector<std::pair<std::string, tensor>> small{{"a", tensor::from_values<float>({2}, {1, 2})},
                                                    {"b", tensor::vector<int64_t>({1, 2, 3})}};
  for (bool deflate : {false, true}) {
    simulated_disk disk{1};
    REQUIRE(write_npz(disk, "x.npz", small, deflate).ok());
    // Names have no checksum.
    check_damage("x.npz", disk.content("x.npz"), [](file_system& at) -> result<std::string> {
      TROUPE_ASSIGN(auto reader, npz_reader::open(at, "x.npz"));
      TROUPE_ASSIGN(auto a, reader.read("a"));
      TROUPE_ASSIGN(auto b, reader.read("b"));
      return concat(a, b);
    });
  }
}

TEST_CASE("unsupported archives are refused with the reason") {
  simulated_disk disk{1};
  auto writer = zip_writer::create(disk, "x");
  CHECK(writer->add("a.npy", "no array").ok());
  CHECK(writer->add("b.txt", "text").ok());
  CHECK(writer->finish().ok());
  auto reader = npz_reader::open(disk, "x");
  CHECK(reader->names() == std::vector<std::string>{"a"});
  CHECK_THAT(reader->read("a").status().message(), Contains("x: array 'a': "));
  auto content = disk.content("x");
  auto entry = content.find("PK\1\2");
  auto changed = [&](size_t at, char to) {
    auto changed_content = content;
    changed_content[at] = to;
    disk.put("y", changed_content);
    return zip_reader::open(disk, "y").status();
  };
  CHECK(changed(entry + 10, 12).kind() == error_kind::unimplemented); // bzip2
  CHECK(changed(entry + 8, 1).kind() == error_kind::unimplemented);   // encrypted
  CHECK_THAT(changed(entry + 45, 'x').message(), Contains("y: 'a.npy' would have"));
  disk.put("y", "no archive");
  CHECK_THAT(zip_reader::open(disk, "y").status().message(), Contains("not a zip archive"));
  // A false claim of a large size takes no memory.
  auto bomb = zip_writer::create(disk, "z");
  CHECK(bomb->add("a", "text", true).ok());
  CHECK(bomb->finish().ok());
  content = disk.content("z");
  entry = content.find("PK\1\2");
  content.replace(entry + 24, 4, "\xf0\xff\xff\xff");
  disk.put("z", content);
  auto opened = zip_reader::open(disk, "z");
  CHECK_THAT(opened->read(opened->entries()[0]).status().message(), Contains("cannot become"));
}

} // namespace
} // namespace troupe::test::npz_test
