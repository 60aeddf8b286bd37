// Directories one by one, and a few that find each other.
#include "troupe/runtime/cluster/node_directory.hpp"

#include "tests/runtime/cluster/directory_network.hpp"
#include "tests/support/catch.hpp"

namespace troupe::test::node_directory_test {

using namespace std::chrono_literals;
using Catch::Matchers::Contains;

namespace {

const task_name ps{"ps", 0}, worker{"worker", 0}, second_worker{"worker", 1};
constexpr uint64_t own_process = 100;

directory_row row(uint64_t process, uint64_t version, std::vector<directory_task> tasks = {},
                  std::vector<std::string> nodes = {}) {
  return {process, version, std::move(nodes), std::move(tasks)};
}
directory_hello hello(directory_row own, directory_role role = directory_role::node) {
  return {.role = role, .cluster = "c", .own = std::move(own)};
}
directory_list list_of(uint64_t sequence, std::vector<directory_row> rows = {}) {
  return {.sequence = sequence,
          .is_informed = true,
          .is_complete = sequence == 1,
          .rows = std::move(rows)};
}

// The directory with the process number 100, whose links the test plays.
class played_directory {
public:
  explicit played_directory(directory_role role = directory_role::node,
                            std::vector<std::string> named = {}, directory_limits limits = {})
      : tested({.role = role,
                .process = own_process,
                .cluster = "c",
                .named = std::move(named),
                .nodes = role == directory_role::node ? std::vector<std::string>{"n:100"}
                                                      : std::vector<std::string>{},
                .limits = limits},
               now) {}

  // Adds the effects to those of earlier calls.
  void act(node_directory::effects effects) {
    std::ranges::move(effects.send, std::back_inserter(sent));
    std::ranges::move(effects.close, std::back_inserter(closed));
    std::ranges::move(effects.dial, std::back_inserter(dialed));
    std::ranges::move(effects.decided, std::back_inserter(decided));
    std::ranges::move(effects.replaced, std::back_inserter(replaced));
  }
  void take(uint64_t from, directory_message message) {
    act(tested.take(from, std::move(message), now));
  }
  // Links a process, which has sent its first list.
  void link(uint64_t at, directory_row own, directory_role role = directory_role::node) {
    act(tested.connected(at, "", now));
    take(at, hello(std::move(own), role));
    take(at, list_of(1));
  }
  void pass(std::chrono::milliseconds time) {
    for (auto end = now + time; now < end;) {
      now += 100ms;
      act(tested.tick(now));
    }
  }
  // Passes time in which the other ends of links send beats.
  void pass_with_beats(std::chrono::milliseconds time, std::vector<uint64_t> links) {
    for (auto end = now + time; now < end;) {
      pass(100ms);
      for (auto at : links)
        take(at, directory_beat{1, true});
    }
  }
  std::string view() const {
    std::string text;
    for (const auto& [task, entry] : tested.view())
      text += concat(text.empty() ? "" : ", ", task, ' ', entry.address);
    return text;
  }
  // The messages of one kind to a link, which are taken.
  template <class T>
  std::vector<T> take_sent(uint64_t to) {
    std::vector<T> messages;
    std::erase_if(sent, [&](const auto& message) {
      auto* content = std::get_if<T>(&message.second);
      if (message.first == to && content)
        messages.push_back(*content);
      return message.first == to && content;
    });
    return messages;
  }
  // The processes of the rows that were listed to a link.
  std::set<uint64_t> take_listed(uint64_t to) {
    std::set<uint64_t> processes;
    for (const auto& list : take_sent<directory_list>(to))
      for (const auto& listed : list.rows)
        processes.insert(listed.process);
    return processes;
  }

  directory_time now{1h};
  node_directory tested;
  std::vector<std::pair<uint64_t, directory_message>> sent;
  std::vector<uint64_t> closed;
  std::vector<std::string> dialed;
  std::vector<std::pair<uint64_t, number_grant>> decided;
  std::vector<std::pair<uint64_t, status>> replaced;
};

directory_options node_options(std::vector<std::string> named) {
  directory_options options;
  options.named = std::move(named);
  return options;
}
directory_options guest_options(std::vector<std::string> named) {
  auto options = node_options(std::move(named));
  options.role = directory_role::guest;
  return options;
}

const number_grant* only_grant(const directory_process& process) {
  return process.granted.size() == 1 ? &process.granted.begin()->second : nullptr;
}

} // namespace

TEST_CASE("a row replaces another row of its process only if its version is greater") {
  played_directory played;
  played.link(1, row(1, 5, {{worker, "h:1", 10}}));
  CHECK(played.view() == "/job:worker/task:0 h:1");
  played.take(1, list_of(2, {row(1, 5, {{worker, "h:2", 10}})}));
  played.take(1, list_of(3, {row(1, 4, {{worker, "h:3", 10}})}));
  CHECK(played.view() == "/job:worker/task:0 h:1");
  played.take(1, list_of(4, {row(1, 6, {{worker, "h:4", 10}, {ps, "h:5", 3}})}));
  CHECK(played.view() == "/job:ps/task:0 h:5, /job:worker/task:0 h:4");
  played.take(1, list_of(4, {row(1, 7)})); // repeated
  CHECK(played.view() == "/job:ps/task:0 h:5, /job:worker/task:0 h:4");
}

TEST_CASE("a row of this process from another one is ignored") {
  played_directory played;
  played.act(played.tested.claim(1, {"ps", 0, 7, "h:7"}, played.now));
  played.link(1, row(1, 5));
  played.take(1, list_of(2, {row(own_process, 99, {{ps, "h:bad", 999}})}));
  directory_list without = list_of(3);
  without.left = without.lost = {own_process};
  played.take(1, without);
  CHECK(played.view() == "/job:ps/task:0 h:7");
  CHECK(played.replaced.empty());
}

TEST_CASE("nodes are told of the processes that a node has a link to, and guests of all") {
  played_directory played;
  played.link(1, row(1, 1));
  played.link(2, row(2, 1));
  played.link(3, row(3, 1), directory_role::guest);
  played.link(4, row(4, 1), directory_role::guest);
  played.take(2, list_of(2, {row(20, 1)})); // a guest of node 2
  played.pass_with_beats(300ms, {1, 2, 3, 4});
  CHECK(played.take_listed(1) == std::set<uint64_t>{2, 3, 4, own_process});
  CHECK(played.take_listed(3) == std::set<uint64_t>{1, 2, 4, 20, own_process});
}

TEST_CASE("a guest tells nodes of itself only") {
  played_directory played{directory_role::guest, {"n:1"}};
  played.link(1, row(1, 1, {}, {"n:1"}));
  played.link(2, row(2, 1, {}, {"n:2"}));
  played.pass_with_beats(300ms, {1, 2});
  CHECK(played.take_listed(1) == std::set<uint64_t>{own_process});
}

TEST_CASE("the row of a process that has ended stays for ten seconds, unless it has left") {
  played_directory played;
  auto is_lost = GENERATE(true, false);
  played.link(1, row(1, 1, {{worker, "h:1", 10}}));
  played.link(2, row(2, 1));
  if (is_lost)
    played.act(played.tested.lost(1, played.now));
  else
    played.take(1, directory_leave{});
  CHECK(played.view() == (is_lost ? "/job:worker/task:0 h:1" : ""));
  played.pass_with_beats(200ms, {2});
  auto lists = played.take_sent<directory_list>(2);
  REQUIRE(!lists.empty());
  CHECK(lists.back().lost == (is_lost ? std::vector<uint64_t>{1} : std::vector<uint64_t>{}));
  CHECK(lists.back().left == (is_lost ? std::vector<uint64_t>{} : std::vector<uint64_t>{1}));
  played.pass_with_beats(9'700ms, {2});
  CHECK(played.view() == (is_lost ? "/job:worker/task:0 h:1" : ""));
  played.pass_with_beats(300ms, {2});
  CHECK(played.view() == "");
}

TEST_CASE("a row that another node lists outlives the link to its process") {
  played_directory played;
  played.link(1, row(1, 1, {{worker, "h:1", 10}}));
  played.link(2, row(2, 1));
  played.take(2, list_of(2, {row(1, 1, {{worker, "h:1", 10}})}));
  played.act(played.tested.lost(1, played.now));
  played.pass_with_beats(12s, {2});
  CHECK(played.view() == "/job:worker/task:0 h:1");
  auto ended = list_of(3);
  ended.lost = {1};
  played.take(2, ended);
  CHECK(played.view() == "/job:worker/task:0 h:1");
  played.pass_with_beats(10'100ms, {2});
  CHECK(played.view() == "");
}

TEST_CASE("a process that has left is not listed again by a node that does not know it yet") {
  played_directory played;
  played.link(1, row(1, 1, {{worker, "h:1", 10}}));
  played.link(2, row(2, 1));
  played.take(1, directory_leave{});
  played.take(2, list_of(2, {row(1, 1, {{worker, "h:1", 10}})}));
  CHECK(played.view() == "");
  played.link(3, row(1, 2, {{worker, "h:2", 10}})); // its own word counts
  CHECK(played.view() == "/job:worker/task:0 h:2");
}

TEST_CASE("a complete list of several messages drops the rows that it does not have") {
  played_directory played;
  played.link(1, row(1, 1));
  played.take(1, list_of(2, {row(20, 1, {{worker, "h:20", 1}}), row(21, 1, {{ps, "h:21", 1}})}));
  auto first = list_of(3, {row(22, 1, {{second_worker, "h:22", 1}})});
  first.is_complete = first.has_more = true;
  played.take(1, first);
  played.take(1, list_of(4, {row(20, 1, {{worker, "h:20", 1}})}));
  played.pass_with_beats(9'900ms, {1});
  CHECK(played.view() == "/job:ps/task:0 h:21, /job:worker/task:0 h:20, /job:worker/task:1 h:22");
  played.pass_with_beats(200ms, {1});
  CHECK(played.view() == "/job:worker/task:0 h:20, /job:worker/task:1 h:22");
}

TEST_CASE("a list that was lost is requested again, at most once a second") {
  played_directory played;
  played.link(1, row(1, 1));
  played.sent.clear();
  played.take(1, directory_beat{2, true});
  CHECK(played.take_sent<directory_again>(1).size() == 1);
  for (int i = 0; i < 9; ++i) {
    played.pass(100ms);
    played.take(1, directory_beat{2, true});
  }
  CHECK(played.take_sent<directory_again>(1).empty());
  played.pass(100ms);
  CHECK(played.take_sent<directory_again>(1).size() == 1);
  // A list after a gap is not used, because its base was lost.
  played.take(1, list_of(4, {row(20, 1, {{worker, "h:20", 1}})}));
  CHECK(played.view() == "");
  auto complete = list_of(5, {row(20, 1, {{worker, "h:20", 1}})});
  complete.is_complete = true;
  played.take(1, complete);
  CHECK(played.view() == "/job:worker/task:0 h:20");
}

TEST_CASE("a request to repeat is answered with a hello and the complete list") {
  played_directory played;
  played.link(1, row(1, 1));
  played.link(2, row(2, 1));
  played.pass(200ms);
  played.sent.clear();
  played.take(1, directory_again{});
  played.take(1, directory_again{}); // answered once
  CHECK(played.take_sent<directory_hello>(1).size() == 1);
  auto lists = played.take_sent<directory_list>(1);
  REQUIRE(lists.size() == 1);
  CHECK(lists[0].is_complete);
  CHECK(lists[0].rows.size() == 2);
}

TEST_CASE("messages before a hello are not used, and a hello is requested") {
  played_directory played;
  played.act(played.tested.connected(1, "", played.now));
  played.take(1, list_of(1, {row(20, 1, {{worker, "h:20", 1}})}));
  CHECK(played.view() == "");
  CHECK(played.take_sent<directory_again>(1).size() == 1);
  played.pass(1'900ms);
  CHECK(played.closed.empty());
  played.pass(200ms);
  CHECK(played.closed == std::vector<uint64_t>{1});
}

TEST_CASE("a silent link is closed after three seconds, and its node is called again") {
  played_directory played;
  played.act(played.tested.connected(1, "", played.now));
  played.take(1, hello(row(200, 1, {}, {"n:200"})));
  played.take(1, list_of(1));
  played.pass(2'900ms);
  CHECK(played.closed.empty());
  CHECK(played.dialed.empty());
  played.pass(200ms);
  CHECK(played.closed == std::vector<uint64_t>{1});
  played.pass(400ms);
  CHECK(played.dialed == std::vector<std::string>{"n:200"});
}

TEST_CASE("a process that was suspended for a short time does not close its links") {
  played_directory played;
  played.link(1, row(1, 1));
  played.pass(500ms);
  auto is_long = GENERATE(false, true);
  played.now += is_long ? 20s : 2'900ms;
  played.act(played.tested.tick(played.now));
  CHECK(played.closed.size() == is_long); // then the other end has closed the link
  played.pass(200ms);
  CHECK(played.closed.size() == is_long);
}

TEST_CASE("of two processes with a task, the one with the greater incarnation is shown") {
  played_directory played;
  played.link(1, row(1, 1, {{worker, "h:1", 10}}));
  played.link(2, row(2, 1, {{worker, "h:2", 9}}));
  CHECK(played.view() == "/job:worker/task:0 h:1");
  played.take(2, list_of(2, {row(2, 2, {{worker, "h:2", 11}})}));
  CHECK(played.view() == "/job:worker/task:0 h:2");
  played.take(1, list_of(2, {row(1, 2, {{worker, "h:1", 11}})})); // equal: the greater process
  CHECK(played.view() == "/job:worker/task:0 h:2");
  played.take(2, directory_leave{});
  CHECK(played.view() == "/job:worker/task:0 h:1");
}

TEST_CASE("a claim of a number that a process has takes a greater incarnation") {
  played_directory played;
  played.link(1, row(1, 1, {{worker, "h:1", 5'000}}));
  played.act(played.tested.claim(7, {"worker", 0, 10, "h:7"}, played.now));
  REQUIRE(played.decided.size() == 1);
  CHECK(played.decided[0].first == 7);
  CHECK(played.decided[0].second.outcome);
  CHECK(played.decided[0].second.incarnation == 5'001);
  CHECK(played.view() == "/job:worker/task:0 h:7");
}

TEST_CASE("a new link tells of tasks that were lost shortly before, which keep their numbers") {
  played_directory played;
  played.link(1, row(1, 1, {{worker, "h:1", 5'000}}));
  played.act(played.tested.lost(1, played.now));
  played.link(2, row(2, 1));
  played.link(3, row(3, 1), directory_role::guest);
  for (uint64_t link : {2, 3}) {
    auto lists = played.take_sent<directory_list>(link);
    REQUIRE(lists.size() == 1);
    CHECK(lists[0].lost == std::vector<uint64_t>{1});
    CHECK(std::ranges::find(lists[0].rows, 1u, &directory_row::process) != lists[0].rows.end());
  }
  played_directory other;
  auto with_former = list_of(1, {row(1, 1, {{worker, "h:1", 5'000}})});
  with_former.lost = {1};
  other.act(other.tested.connected(2, "", other.now));
  other.take(2, hello(row(2, 1)));
  other.take(2, with_former);
  CHECK(other.view() == "");
  other.act(other.tested.claim(7, {"worker", -1, 10, "h:7"}, other.now));
  other.pass_with_beats(1'100ms, {2});
  other.act(other.tested.claim(8, {"worker", 0, 10, "h:8"}, other.now));
  REQUIRE(other.decided.size() == 2);
  CHECK(other.decided[0].second.task == second_worker);
  CHECK(other.decided[1].second.incarnation == 5'001);
}

TEST_CASE("a process whose task another process has got is told so, once") {
  played_directory played;
  played.act(played.tested.claim(7, {"worker", 0, 10, "h:7"}, played.now));
  played.link(1, row(1, 1, {{worker, "h:1", 9}}));
  CHECK(played.replaced.empty());
  played.take(1, list_of(2, {row(1, 2, {{worker, "h:1", 11}})}));
  REQUIRE(played.replaced.size() == 1);
  CHECK(played.replaced[0].first == 7);
  CHECK(played.replaced[0].second.kind() == error_kind::failed_precondition);
  CHECK_THAT(played.replaced[0].second.message(),
             Contains("/job:worker/task:0 with the incarnation 10 has been replaced"));
  CHECK(played.view() == "/job:worker/task:0 h:1");
  played.pass_with_beats(1s, {1});
  CHECK(played.replaced.size() == 1);
}

TEST_CASE("the lowest free number is granted if no other process claims it within a second") {
  played_directory played;
  played.link(1, row(1, 1, {{worker, "h:1", 10}, {{"worker", 2}, "h:2", 10}}));
  played.act(played.tested.claim(7, {"worker", -1, 20, "h:7"}, played.now));
  played.act(played.tested.claim(8, {"worker", -1, 20, "h:8"}, played.now));
  played.pass_with_beats(900ms, {1});
  CHECK(played.decided.empty());
  CHECK(played.view() == "/job:worker/task:0 h:1, /job:worker/task:2 h:2");
  played.pass_with_beats(200ms, {1});
  REQUIRE(played.decided.size() == 2);
  CHECK(played.decided[0].second.task == second_worker);
  CHECK(played.decided[1].second.task == task_name{"worker", 3});
}

TEST_CASE("of two claims of a number, the one with the lesser incarnation gets it") {
  played_directory played;
  played.link(1, row(1, 1));
  played.act(played.tested.claim(7, {"worker", -1, 20, "h:7"}, played.now));
  auto other = GENERATE(19u, 21u);
  auto is_confirmed = GENERATE(false, true);
  played.take(1, list_of(2, {row(1, 2, {{worker, "h:1", other, !is_confirmed}})}));
  played.pass(1'200ms);
  REQUIRE(played.decided.size() == 1);
  CHECK(played.decided[0].second.task == (other == 21 && !is_confirmed ? worker : second_worker));
}

TEST_CASE("a process at the address of another one gets its number again") {
  played_directory played;
  played.link(1, row(1, 1, {{worker, "h:1", 10}, {second_worker, "h:2", 10}}));
  played.act(played.tested.claim(7, {"worker", -1, 5, "h:2"}, played.now));
  REQUIRE(played.decided.size() == 1);
  CHECK(played.decided[0].second.task == second_worker);
  CHECK(played.decided[0].second.incarnation == 11);
}

TEST_CASE("a process has each task once") {
  played_directory played;
  played.act(played.tested.claim(1, {"ps", 0, 7, "h:7"}, played.now));
  played.act(played.tested.claim(2, {"ps", 0, 7, "h:8"}, played.now));
  REQUIRE(played.decided.size() == 2);
  CHECK(played.decided[1].second.outcome.kind() == error_kind::already_exists);
  played.act(played.tested.withdraw(1, played.now));
  CHECK(played.view() == "");
  played.act(played.tested.claim(3, {"ps", 0, 7, "h:8"}, played.now));
  CHECK(played.view() == "/job:ps/task:0 h:8");
}

TEST_CASE("a guest gets no number until a node has told it the tasks of the cluster") {
  played_directory played{directory_role::guest, {"n:1"}};
  auto number = GENERATE(-1, 0);
  played.act(played.tested.claim(1, {"worker", number, 7, "h:7"}, played.now));
  played.pass(30s);
  CHECK(played.decided.empty());
  CHECK(!played.tested.is_informed());
  played.act(played.tested.connected(1, "n:1", played.now));
  played.take(1, hello(row(1, 1, {}, {"n:1"})));
  auto uninformed = list_of(1);
  uninformed.is_informed = false;
  played.take(1, uninformed);
  played.pass_with_beats(100ms, {});
  CHECK(played.decided.empty());
  played.pass_with_beats(1'300ms, {1}); // its beats say that it is informed now
  REQUIRE(played.decided.size() == 1);
  CHECK(played.decided[0].second.outcome);
}

TEST_CASE("a process of another cluster is refused") {
  played_directory played;
  played.act(played.tested.connected(1, "n:1", played.now));
  auto other = hello(row(1, 1, {{worker, "h:1", 10}}));
  other.cluster = "d";
  played.take(1, other);
  auto refusals = played.take_sent<directory_refusal>(1);
  REQUIRE(refusals.size() == 1);
  CHECK(refusals[0].reason.kind() == error_kind::failed_precondition);
  CHECK_THAT(refusals[0].reason.message(), Contains("of the cluster 'd', not 'c'"));
  CHECK(played.closed == std::vector<uint64_t>{1});
  CHECK(played.view() == "");
}

TEST_CASE("a process over a limit is refused, and the directory does not change") {
  directory_limits limits{.nodes = 3, .guests = 2, .tasks_of_process = 2, .tasks = 5};
  played_directory played{directory_role::node, {}, limits};
  played.link(1, row(1, 1, {{worker, "h:1", 1}}));
  played.link(2, row(2, 1));
  auto expect_refusal = [&](uint64_t at, const char* text) {
    INFO(text);
    auto refusals = played.take_sent<directory_refusal>(at);
    REQUIRE(refusals.size() == 1);
    CHECK(refusals[0].reason.kind() == error_kind::resource_exhausted);
    CHECK_THAT(refusals[0].reason.message(), Contains(text));
    CHECK(played.closed.back() == at);
    CHECK(played.view() == "/job:worker/task:0 h:1");
  };
  played.link(3, row(3, 1));
  expect_refusal(3, "the cluster has 3 nodes, which is the limit");
  played.link(4, row(4, 1), directory_role::guest);
  played.link(5, row(5, 1), directory_role::guest);
  played.link(6, row(6, 1), directory_role::guest);
  expect_refusal(6, "the node has 2 guests, which is the limit");
  played.take(4, list_of(2, {row(4, 2, {{ps, "h", 1}, {{"ps", 1}, "h", 1}, {{"ps", 2}, "h", 1}})}));
  expect_refusal(4, "a process has at most 2");
  played.take(2, list_of(2, {row(20, 1), row(21, 1), row(22, 1)}));
  expect_refusal(2, "the cluster has 5 processes, which is the limit");
}

TEST_CASE("an address whose link exceeds the limit of links is called again") {
  directory_limits limits{.nodes = 2, .guests = 0};
  played_directory played{directory_role::node, {"n:1"}, limits};
  played.pass(100ms);
  REQUIRE(std::exchange(played.dialed, {}) == std::vector<std::string>{"n:1"});
  for (uint64_t at = 1; at <= 4; ++at)
    played.act(played.tested.connected(at, "", played.now));
  played.act(played.tested.connected(5, "n:1", played.now));
  auto refusals = played.take_sent<directory_refusal>(5);
  REQUIRE(refusals.size() == 1);
  CHECK_THAT(refusals[0].reason.message(), Contains("the node has 4 links, which is the limit"));
  CHECK(played.closed == std::vector<uint64_t>{5});
  played.pass(7'900ms);
  CHECK(played.dialed.empty());
  played.pass(200ms);
  CHECK(played.dialed == std::vector<std::string>{"n:1"});
}

TEST_CASE("a guest may not list other processes") {
  played_directory played;
  played.link(1, row(1, 1), directory_role::guest);
  played.take(1, list_of(2, {row(20, 1, {{worker, "h:20", 1}})}));
  CHECK(played.take_sent<directory_refusal>(1).size() == 1);
  CHECK(played.view() == "");
}

TEST_CASE("a guest may not get an address by a repeated hello") {
  played_directory played;
  played.link(1, row(1, 1), directory_role::guest);
  played.take(1, hello(row(1, 2, {}, {"n:1"}), directory_role::guest));
  CHECK(played.take_sent<directory_refusal>(1).size() == 1);
  CHECK(played.closed == std::vector<uint64_t>{1});
  played.pass(2s);
  CHECK(played.dialed.empty());
}

TEST_CASE("a link is closed after two seconds without a hello, whatever else it brings") {
  played_directory played;
  played.act(played.tested.connected(1, "", played.now));
  played.pass_with_beats(1'900ms, {1});
  CHECK(played.closed.empty());
  played.pass_with_beats(100ms, {1});
  CHECK(played.closed == std::vector<uint64_t>{1});
}

TEST_CASE("a long list is sent in parts, which do not exceed the limit") {
  directory_limits limits{.list_bytes = 4096};
  played_directory played{directory_role::node, {}, limits};
  played.link(1, row(1, 1));
  std::vector<directory_row> rows;
  for (int i = 0; i < 200; ++i)
    rows.push_back(row(1000 + static_cast<uint64_t>(i), 1, {{{"worker", i}, concat("h:", i), 1}}));
  played.take(1, list_of(2, rows));
  played.link(2, row(2, 1), directory_role::guest);
  played.pass_with_beats(2s, {1, 2});
  auto lists = played.take_sent<directory_list>(2);
  CHECK(lists.size() > 5);
  size_t row_count = 0;
  for (size_t i = 0; i < lists.size(); ++i) {
    CHECK(lists[i].sequence == i + 1);
    CHECK(lists[i].is_complete == (i == 0));
    CHECK(lists[i].rows.size() <= 4096 / 64);
    row_count += lists[i].rows.size();
  }
  CHECK(lists.front().has_more);
  CHECK(!lists.back().has_more);
  CHECK(row_count >= 202);
}

TEST_CASE("the lesser of two nodes calls at once, and the greater one after a second") {
  played_directory played;
  played.link(1, row(1, 1));
  auto other = GENERATE(50u, 200u);
  played.take(1, list_of(2, {row(other, 1, {}, {"n:x", "n:y"})}));
  CHECK(played.dialed.size() == (other == 200)); // one of its addresses
  played.pass_with_beats(900ms, {1});
  CHECK(played.dialed.size() == (other == 200));
  played.pass_with_beats(200ms, {1});
  CHECK(played.dialed == std::vector<std::string>{"n:x"});
  auto failed = failure(error_kind::unavailable, "refused");
  played.act(played.tested.failed("n:x", failed, played.now));
  played.pass_with_beats(100ms, {1});
  CHECK(played.dialed == std::vector<std::string>{"n:x", "n:y"});
  // It calls first: the call in progress brings a second link at most.
  played.link(2, row(other, 1, {}, {"n:x", "n:y"}));
  played.act(played.tested.failed("n:y", failed, played.now));
  played.pass_with_beats(20s, {1, 2});
  CHECK(played.dialed.size() == 2);
}

TEST_CASE("an address that does not answer is called at growing intervals, and named in errors") {
  played_directory played{directory_role::guest, {"n:1", "n:2"}};
  size_t call_count = 0;
  for (int i = 0; i < 600; ++i) {
    played.pass(100ms);
    call_count += played.dialed.size();
    for (const auto& address : std::exchange(played.dialed, {}))
      played.act(
          played.tested.failed(address, failure(error_kind::unavailable, "refused"), played.now));
  }
  CHECK(call_count >= 2 * 55); // each second at least, since there is no link
  CHECK(call_count <= 2 * 130);
  CHECK(played.tested.problem().kind() == error_kind::unavailable);
  CHECK_THAT(played.tested.problem().message(), Contains("n:1: refused; n:2: refused"));
}

TEST_CASE("a node that refuses this one is called seldom") {
  played_directory played{directory_role::guest, {"n:1"}};
  played.pass(100ms);
  played.act(played.tested.connected(1, "n:1", played.now));
  played.take(1, directory_refusal{failure(error_kind::failed_precondition, "another cluster")});
  CHECK(played.closed == std::vector<uint64_t>{1});
  CHECK_THAT(played.tested.problem().message(),
             Contains("n:1: it has refused the link: another cluster"));
  played.dialed.clear();
  played.pass(7'900ms);
  CHECK(played.dialed.empty());
  played.pass(200ms);
  CHECK(played.dialed == std::vector<std::string>{"n:1"});
}

TEST_CASE("bytes that are no message end the link") {
  played_directory played;
  played.link(1, row(1, 1, {{worker, "h:1", 1}}));
  played.act(played.tested.reject(1, failure(error_kind::data_loss, "damaged"), played.now));
  CHECK(played.take_sent<directory_refusal>(1).size() == 1);
  CHECK(played.closed == std::vector<uint64_t>{1});
  played.take(1, list_of(2, {row(1, 2)})); // the link has ended
  CHECK(played.view() == "/job:worker/task:0 h:1");
}

TEST_CASE("a node that finds itself at an address does not call it again") {
  played_directory played{directory_role::node, {"n:100"}};
  played.pass(100ms);
  REQUIRE(played.dialed == std::vector<std::string>{"n:100"});
  CHECK(!played.tested.is_informed());
  played.act(played.tested.reached_self("n:100", played.now));
  CHECK(played.tested.is_informed()); // no other node is named: it is the first one
  played.pass(30s);
  CHECK(played.dialed.size() == 1);
}

TEST_CASE("a named node is the first one if it does not hear of others for ten seconds") {
  played_directory played{directory_role::node, {"n:100", "n:1"}};
  played.act(played.tested.claim(1, {"ps", 0, 1, "h:1"}, played.now));
  played.act(played.tested.claim(2, {"worker", -1, 1, "h:2"}, played.now));
  played.act(played.tested.reached_self("n:100", played.now));
  played.pass(1'100ms);
  CHECK(played.view() == "/job:ps/task:0 h:1"); // a certain number needs no other node
  played.pass(8'800ms);
  CHECK(!played.tested.is_informed());
  played.pass(1'400ms);
  CHECK(played.view() == "/job:ps/task:0 h:1, /job:worker/task:0 h:2");
}

TEST_CASE("a guest has links to three nodes") {
  directory_network network{1, {}};
  for (int i = 0; i < 6; ++i)
    network.start(
        node_options(i == 0 ? std::vector<std::string>{} : std::vector<std::string>{"n:0"}),
        concat("n:", i));
  network.run(3s);
  auto& guest = network.start(guest_options({"n:0"}), "");
  network.run(3s);
  CHECK(network.wire.count_of(guest.id) == 3);
  network.kill(*network.processes[0]);
  network.run(12s);
  CHECK(network.wire.count_of(guest.id) == 3);
  CHECK(guest.directory->tick_period(network.now) == 1s); // it calls no further node
}

TEST_CASE("a task that is killed and started elsewhere is found within a second") {
  for (uint32_t seed = 1; seed <= 50; ++seed) {
    INFO("seed " << seed);
    directory_network network{seed, {}};
    auto& first = network.start(node_options({}), "n:0");
    network.claim(first, {"ps", 0, 100, "h:0"});
    for (int i = 1; i < 6; ++i)
      network.start(node_options({"n:0"}), concat("n:", i));
    network.start(guest_options({"n:4"}), "");
    network.claim(*network.processes[3], {"worker", 0, 200, "h:3"});
    network.run(3s);
    network.kill(*network.processes[3], seed % 2 == 0);
    auto& restarted = network.start(node_options({"n:2"}), "n:9");
    network.claim(restarted, {"worker", 0, 150, "h:9"}); // its clock is slow
    network.run(1s);
    for (const auto& process : network.processes) {
      REQUIRE(process->directory->view().contains(worker));
      CHECK(process->directory->view().at(worker).address == "h:9");
    }
    REQUIRE(only_grant(restarted));
    CHECK(only_grant(restarted)->incarnation == 201);
    CHECK(network.replaced_count == 0);
  }
}

TEST_CASE("a directory that is made anew in its process keeps the process's tasks") {
  directory_network network{1, {}};
  network.start(node_options({}), "n:0");
  network.start(node_options({"n:0"}), "n:1");
  auto options = node_options({"n:0"});
  options.process = 7;
  auto& former = network.start(options, "n:2");
  network.claim(former, {"worker", -1, 100, "h:2"});
  network.run(3s);
  REQUIRE(only_grant(former));
  network.kill(former);
  options.first_version = 1'000;
  auto& renewed = network.start(options, "n:2");
  number_claim confirmed{"worker", 0, 100, "h:2"};
  confirmed.is_confirmed = true;
  network.claim(renewed, confirmed);
  network.run(20s);
  for (const auto& process : network.processes)
    CHECK(process->directory->view().contains(worker));
  CHECK(network.replaced_count == 0);
}

TEST_CASE("nodes that rest send a beat each second, and nothing else") {
  directory_network network{1, {}};
  network.start(node_options({}), "n:0");
  for (int i = 1; i < 5; ++i)
    network.start(node_options({"n:0"}), concat("n:", i));
  network.run(10s);
  network.message_count = 0;
  network.run(10s);
  CHECK(network.message_count >= 5 * 4 * 9);
  CHECK(network.message_count <= 5 * 4 * 11);
  for (const auto& process : network.processes)
    CHECK(process->directory->tick_period(network.now) == 1s);
}

} // namespace troupe::test::node_directory_test
