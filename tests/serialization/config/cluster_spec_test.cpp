#include "tests/support/catch.hpp"
#include "troupe/serialization/config/cluster.hpp"

#include <unistd.h>

#include <filesystem>
#include <fstream>

namespace troupe::test::cluster_spec_test {
namespace {

using Catch::Matchers::Contains;

std::string error_of(std::string_view text) {
  return parse_cluster(text, "c.json").status().message();
}

TEST_CASE("a cluster spec lists addresses by job, and survives writing and reading") {
  auto spec = parse_cluster(
      R"({"worker": ["127.0.0.1:7001", "host-2.example:7002"], "ps": ["[::1]:7000"]})");
  INFO(spec.status());
  REQUIRE(spec);
  CHECK(spec->jobs.at("worker").size() == 2);
  CHECK(tasks_of(*spec) == std::vector<task_name>{{"ps", 0}, {"worker", 0}, {"worker", 1}});
  CHECK(*address_of(*spec, {"ps", 0}) == "[::1]:7000");
  auto missing = address_of(*spec, {"ps", 1});
  CHECK(missing.status().kind() == error_kind::not_found);
  CHECK_THAT(missing.status().message(), Contains("/job:ps/task:1, only /job:ps/task:0, "));
  auto reparsed = parse_cluster(to_json(*spec));
  REQUIRE(reparsed);
  CHECK(reparsed->jobs == spec->jobs);
}

TEST_CASE("a cluster spec may be under the key cluster, beside other keys") {
  auto spec = parse_cluster(R"({"cluster": {"a": ["h:1"]}, "task": {"type": "a", "index": 0}})");
  REQUIRE(spec);
  CHECK(spec->jobs.size() == 1);
  CHECK(parse_cluster(R"({"cluster": ["h:1"]})")->jobs.contains("cluster"));
}

TEST_CASE("a mistake in a cluster spec is named with file and key") {
  CHECK_THAT(error_of("{\n\"a\": [}"), Contains("c.json: is not JSON: parse error at line 2"));
  CHECK_THAT(error_of("[]"), Contains("must be an object of jobs"));
  CHECK_THAT(error_of("{}"), Contains("must be an object of jobs"));
  CHECK_THAT(error_of(R"({"a": "h:1"})"), Contains("job 'a' must be a list of addresses, got \"h"));
  CHECK_THAT(error_of(R"({"a": []})"), Contains("job 'a' must be a list"));
  CHECK_THAT(error_of(R"({"a/b": ["h:1"]})"), Contains("\"a/b\" is not a valid name of a job"));
  CHECK_THAT(error_of(R"({"a": ["h:1"], "a": ["h:2"]})"), Contains("has 'a' twice"));
  CHECK_THAT(error_of(R"({"a": ["h:1", "h:2"], "b": ["h:2"]})"),
             Contains("/job:b/task:0 has the address h:2 of /job:a/task:1"));
  for (auto address : {"h", "h:", ":1", "h:0", "h:65536", "h:x", "h:1 ", "::1:7", "a b:1"})
    CHECK_THAT(error_of(concat(R"({"a": [")", address, R"("]})")), Contains("is not an address"));
  CHECK_THAT(error_of(R"({"a": [1]})"), Contains("job 'a': 1 is not an address"));
}

TEST_CASE("deeply nested JSON is an error, not a crash") {
  std::string deep = R"({"a": )" + std::string(100'000, '[') + std::string(100'000, ']') + "}";
  CHECK_THAT(error_of(deep), Contains("nested more than 8 deep"));
  auto keys = std::string{};
  for (int i = 0; i < 100'000; ++i)
    keys += R"({"a": )";
  CHECK_FALSE(parse_cluster(keys));
}

TEST_CASE("a cluster file that cannot be read is named") {
  CHECK_THAT(read_cluster_file("/no/such/file").status().message(), Contains("/no/such/file"));
  CHECK_FALSE(read_cluster_file("/"));
  auto path = std::filesystem::temp_directory_path() / concat("cluster_test_", ::getpid(), ".json");
  std::ofstream{path} << R"({"a": ["h:1"]})";
  CHECK(read_cluster_file(path.string()));
  std::filesystem::remove(path);
}

} // namespace
} // namespace troupe::test::cluster_spec_test
