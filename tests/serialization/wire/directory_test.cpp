#include "troupe/serialization/wire/directory.hpp"

#include "tests/support/catch.hpp"
#include "troupe/runtime/cluster/member_list.hpp"

#include <functional>
#include <initializer_list>
#include <random>
#include <set>

namespace troupe::test::directory_test {
namespace {

using Catch::Matchers::Contains;

constexpr uint64_t latest_incarnation = 1'000'000;

directory_row example_row() {
  return {.process = 7,
          .version = 3,
          .nodes = {"10.0.0.1:9000", "[::1]:9000"},
          .tasks = {{{"worker", 65'535}, "h:1", latest_incarnation, false},
                    {{"ps", 0}, "h:2", 0, true}}};
}

std::vector<directory_message> example_directory_messages() {
  return {directory_hello{directory_role::guest, "train", example_row()},
          directory_hello{directory_role::node, "", {1, 1}},
          directory_list{.sequence = 1},
          directory_list{.sequence = UINT64_MAX,
                         .is_informed = true,
                         .is_complete = true,
                         .has_more = true,
                         .rows = {example_row(), {1, 1}},
                         .lost = {1, 2},
                         .left = {UINT64_MAX}},
          directory_beat{5, true},
          directory_beat{},
          directory_again{},
          directory_leave{},
          directory_refusal{failure(error_kind::resource_exhausted, "64 nodes")}};
}

std::string print(const directory_row& row) {
  auto text = concat(row.process, " v", row.version);
  for (const auto& node : row.nodes)
    text += concat(' ', node);
  for (const auto& entry : row.tasks)
    text += concat(' ', entry.task, ' ', entry.address, ' ', entry.incarnation, ' ',
                   entry.is_claimed ? "claimed" : "confirmed");
  return text;
}

struct printer {
  std::string operator()(const directory_hello& m) const {
    return concat("hello ", m.role == directory_role::guest ? "guest" : "node", " '", m.cluster,
                  "' ", print(m.own));
  }
  std::string operator()(const directory_list& m) const {
    auto text = concat("list ", m.sequence, m.is_informed ? " informed" : "",
                       m.is_complete ? " complete" : "", m.has_more ? " more" : "");
    for (const auto& row : m.rows)
      text += concat("; ", print(row));
    for (auto process : m.lost)
      text += concat(" lost ", process);
    for (auto process : m.left)
      text += concat(" left ", process);
    return text;
  }
  std::string operator()(const directory_beat& m) const {
    return concat("beat ", m.sequence, m.is_informed ? " informed" : "");
  }
  std::string operator()(const directory_again&) const { return "again"; }
  std::string operator()(const directory_leave&) const { return "leave"; }
  std::string operator()(const directory_refusal& m) const { return concat("refusal ", m.reason); }
};

std::string print(const directory_message& message) { return std::visit(printer{}, message); }

status outcome_of(const directory_message& message) {
  return decode_directory(encode(message), latest_incarnation).status();
}
status outcome_of(directory_row row) {
  return outcome_of(directory_message{directory_hello{directory_role::node, "", std::move(row)}});
}

TEST_CASE("every message of a directory survives encoding and decoding") {
  std::set<size_t> kinds;
  for (const auto& example : example_directory_messages()) {
    INFO(print(example));
    auto decoded = decode_directory(encode(example), latest_incarnation);
    INFO(decoded.status());
    REQUIRE(decoded);
    CHECK(print(*decoded) == print(example));
    kinds.insert(example.index());
  }
  CHECK(kinds.size() == std::variant_size_v<directory_message>);
}

TEST_CASE("a row that no directory sends is rejected") {
  struct wrong_row {
    const char* text;
    std::function<void(directory_row&)> change;
  };
  for (const auto& [text, change] : std::initializer_list<wrong_row>{
           {"without a process", [](auto& row) { row.process = 0; }},
           {"without a process or a version", [](auto& row) { row.version = 0; }},
           {"'nowhere' is not an address", [](auto& row) { row.nodes[0] = "nowhere"; }},
           {"at most 4 and 64", [](auto& row) { row.nodes.resize(5, "h:1"); }},
           {"at most 4 and 64", [](auto& row) { row.tasks.resize(65); }},
           {"'1x' is not a name of a job", [](auto& row) { row.tasks[0].task.job = "1x"; }},
           {"is not a name of a job", [](auto& row) { row.tasks[0].task.job.resize(257, 'a'); }},
           {"task -1 of the job 'worker'", [](auto& row) { row.tasks[0].task.task = -1; }},
           {"at most 65536 tasks", [](auto& row) { row.tasks[0].task.task = max_tasks_of_job; }},
           {"'h:0' is not an address", [](auto& row) { row.tasks[1].address = "h:0"; }},
           {"is not an address", [](auto& row) { row.tasks[1].address.insert(0, 512, 'h'); }},
           {"names /job:ps/task:0 twice", [](auto& row) { row.tasks[0] = row.tasks[1]; }}}) {
    auto row = example_row();
    change(row);
    INFO(text);
    auto outcome = outcome_of(std::move(row));
    CHECK(outcome.kind() == error_kind::data_loss);
    CHECK_THAT(outcome.message(), Contains(text));
  }
}

TEST_CASE("an incarnation that is too far ahead is rejected, because none could follow it") {
  auto row = example_row();
  row.tasks[0].incarnation = latest_incarnation + 1;
  auto outcome = outcome_of(std::move(row));
  CHECK(outcome.kind() == error_kind::invalid_argument);
  CHECK_THAT(outcome.message(), Contains("/job:worker/task:65535"));
  CHECK_THAT(outcome.message(), Contains("set the clocks"));
}

TEST_CASE("messages over a limit are rejected") {
  CHECK_THAT(
      outcome_of(directory_hello{directory_role::node, std::string(257, 'c'), {1, 1}}).message(),
      Contains("257 bytes, and at most 256"));
  CHECK_THAT(outcome_of(directory_list{.sequence = 0}).message(), Contains("sequence number"));
  directory_list list{.sequence = 1, .rows = {}, .lost = std::vector<uint64_t>(4000, 1)};
  list.left.resize(96, 1);
  CHECK(outcome_of(list).ok());
  list.rows.push_back({1, 1});
  CHECK_THAT(outcome_of(list).message(), Contains("more than 4096 processes"));
  std::vector<char> large(max_directory_bytes + 8);
  CHECK(decode_directory(large, 1).status().kind() == error_kind::resource_exhausted);
  // A longer text of a refusal is cut by the sender.
  auto refusal = directory_refusal{failure(error_kind::unavailable, std::string(9000, 'x'))};
  auto decoded = decode_directory(encode(refusal), 1);
  REQUIRE(decoded);
  CHECK(std::get<directory_refusal>(*decoded).reason.message().size() == 4096);
}

TEST_CASE("the longest list of a directory is accepted") {
  directory_limits limits;
  directory_list list{.sequence = 1};
  directory_row row{1, 1, std::vector<std::string>(limits.endpoints, std::string(500, 'h') + ":1")};
  for (size_t i = 0; i < limits.tasks_of_process; ++i)
    row.tasks.push_back(
        {{std::string(256, 'j'), static_cast<int>(i)}, std::string(500, 'h') + ":1", 1});
  for (size_t bytes = 0; bytes < limits.list_bytes; bytes += row.tasks.size() * 800)
    list.rows.push_back(row);
  CHECK(outcome_of(list).ok());
}

TEST_CASE("a damaged message of a directory is rejected, or decoded as another valid one") {
  std::mt19937 dice{7};
  for (const auto& example : example_directory_messages()) {
    auto bytes = encode(example);
    for (size_t length = 0; length < bytes.size(); ++length)
      CHECK(!decode_directory(std::span{bytes}.first(length), latest_incarnation));
    for (int i = 0; i < 2000; ++i) {
      auto damaged = bytes;
      for (int changes = 1 + static_cast<int>(dice() % 3); changes > 0; --changes)
        damaged[dice() % damaged.size()] = static_cast<char>(dice());
      if (auto decoded = decode_directory(damaged, latest_incarnation)) {
        INFO(print(*decoded));
        CHECK(outcome_of(*decoded).ok());
      }
    }
  }
}

} // namespace
} // namespace troupe::test::directory_test
