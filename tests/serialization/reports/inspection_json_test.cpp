#include "troupe/serialization/reports/inspection_json.hpp"

#include "tests/support/catch.hpp"

namespace troupe::test::inspection_json_test {

TEST_CASE("an inspection survives conversion to JSON and back") {
  inspection task{"/job:ps/task:0", "task"};
  task.add("draining", false);
  task.add("steps", int64_t{-2});
  task.add("seconds", 0.5);
  task.add("address", std::string{"127.0.0.1:7000"});
  task.children.push_back({"/job:ps/task:0/device:cpu:0", "device"});
  task.omitted_children = 7;
  auto parsed = parse_inspection(to_json(task));
  REQUIRE(parsed.ok());
  CHECK(*parsed == task);
}

TEST_CASE("texts that are not UTF-8 are written, too") {
  inspection odd{"/", "cluster"};
  odd.add("name", std::string{"\xff\xfe"});
  CHECK(parse_inspection(to_json(odd)).ok());
}

TEST_CASE("JSON that is not an inspection is refused") {
  std::string deep;
  for (int i = 0; i < 100'000; ++i)
    deep += R"({"children":[)";
  for (const auto& text :
       {std::string{}, std::string{"[]"}, std::string{"{}"}, std::string{R"({"ref":"/"})"},
        std::string{R"({"ref":"/","kind":"a","properties":{"x":[1]}})"},
        std::string{R"({"ref":"/","kind":"a","properties":{"x":18446744073709551615}})"},
        std::string{R"({"ref":"/","kind":"a","more":1})"},
        std::string{R"({"ref":"/","kind":"a","children":[1]})"}, deep}) {
    auto read = parse_inspection(text);
    CHECK(!read.ok());
  }
}

} // namespace troupe::test::inspection_json_test
