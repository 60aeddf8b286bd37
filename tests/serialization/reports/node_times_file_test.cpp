#include "troupe/serialization/reports/node_times_file.hpp"

#include "tests/support/catch.hpp"

#include <filesystem>
#include <unistd.h>

namespace troupe::test::node_times_file_test {

namespace {

const std::vector<node_time> some{
    {.node = "layer1/product",
     .device = "cpu:0",
     .runs = 12,
     .mean_ns = 1500.5,
     .mean_bytes = 2560},
    {.node = "name with \"quotes\"", .device = "", .runs = 1, .mean_ns = 0, .mean_bytes = 0}};

void same(const std::vector<node_time>& a, const std::vector<node_time>& b) {
  REQUIRE(a.size() == b.size());
  for (size_t i = 0; i < a.size(); ++i) {
    CHECK(a[i].node == b[i].node);
    CHECK(a[i].device == b[i].device);
    CHECK(a[i].runs == b[i].runs);
    CHECK(a[i].mean_ns == b[i].mean_ns);
    CHECK(a[i].mean_bytes == b[i].mean_bytes);
  }
}

} // namespace

TEST_CASE("node times survive writing and reading") {
  auto path =
      std::filesystem::temp_directory_path() / concat("node_times_test.", getpid(), ".json");
  REQUIRE(write_node_times(path, some).ok());
  auto times_read = read_node_times(path);
  std::filesystem::remove(path);
  REQUIRE(times_read);
  same(*times_read, some);
}

TEST_CASE("invalid node times are refused with the expected format") {
  auto error_of = [](std::string_view text) { return parse_node_times(text).status().message(); };
  CHECK(error_of("{") == "node times: expected a JSON object");
  CHECK(error_of("{}") == "node times: expected \"troupe\": \"node times\"");
  CHECK(error_of(R"({"troupe": "node times", "version": 7})") == "node times: expected version 1");
  CHECK(error_of(R"({"troupe": "node times", "version": 1, "nodes": 1})") ==
        "node times: expected a list of nodes");
  auto file_with = [&](std::string_view node) {
    return error_of(concat(R"({"troupe": "node times", "version": 1, "nodes": [)", node, "]}"));
  };
  CHECK(file_with("3").starts_with("node times, entry 0"));
  CHECK(file_with(R"({"node": "a", "runs": 1, "mean_ns": -1, "mean_bytes": 0})").find("'a'") !=
        std::string::npos);
  CHECK(file_with(R"({"node": "a", "runs": -1, "mean_ns": 1, "mean_bytes": 0})").find("runs") !=
        std::string::npos);
}

TEST_CASE("a missing file is named") {
  auto outcome = read_node_times("/nowhere/at/all.json").status();
  CHECK(outcome.kind() == error_kind::not_found);
  CHECK(outcome.message().find("/nowhere/at/all.json") != std::string::npos);
}

} // namespace troupe::test::node_times_file_test
