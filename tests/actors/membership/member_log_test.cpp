#include "troupe/actors/membership/member_log.hpp"

#include "tests/support/catch.hpp"

namespace troupe::test::member_log_test {

namespace {

const task_name ps{"ps", 0}, zero{"worker", 0}, one{"worker", 1};

struct recorded_log {
  std::vector<std::string> lines;
  event_log log{"/job:ps/task:0", [this](const log_event& event) {
                  auto line = to_line(event);
                  lines.push_back(line.substr(line.find(' ') + 1)); // without the time
                }};
  std::vector<std::string> lines_between(const member_list& before, const member_list& now) {
    lines.clear();
    log_members(log, before, now);
    return lines;
  }
};

member_list list_of(uint64_t term, std::vector<cluster_member> members) {
  member_list list;
  list.begin_term(term, ps);
  for (auto& member : members)
    list.put(std::move(member));
  return list;
}

} // namespace

TEST_CASE("the log has an entry for each change, but none for the members of the first list") {
  recorded_log log_of_test;
  auto first = list_of(7, {{ps, 7, "h:7"}, {zero, 8, "h:8"}});
  CHECK(log_of_test.lines_between({}, first) ==
        std::vector<std::string>{
            "info /job:ps/task:0 epoch_began coordinator=/job:ps/task:0 term=7 members=2"});
  auto now = first;
  now.put({zero, 8, "h:8", presence::unreachable});
  now.put({one, 9, "h:9"});
  CHECK(log_of_test.lines_between(first, now) ==
        std::vector<std::string>{
            "warning /job:ps/task:0 member_changed member=/job:worker/task:0 presence=unreachable "
            "before=here incarnation=8 address=h:8 change=5",
            "info /job:ps/task:0 member_changed member=/job:worker/task:1 presence=here "
            "before=unknown incarnation=9 address=h:9 change=5"});
  CHECK(log_of_test.lines_between(now, now).empty());
  auto later_list = now;
  later_list.put({zero, 10, "h:10"}); // a process that follows the unreachable one
  later_list.put({one, 9, "h:9", presence::left});
  CHECK(log_of_test.lines_between(now, later_list) ==
        std::vector<std::string>{
            "info /job:ps/task:0 member_changed member=/job:worker/task:0 presence=here "
            "before=unreachable incarnation=10 address=h:10 change=7",
            "info /job:ps/task:0 member_changed member=/job:worker/task:1 presence=left "
            "before=here incarnation=9 address=h:9 change=7"});
}

TEST_CASE("of a list of another coordinator, only the differences are logged") {
  recorded_log log_of_test;
  auto before = list_of(7, {{ps, 7, "h:7"}, {zero, 8, "h:8"}, {one, 9, "h:9"}});
  auto now = list_of(20, {{ps, 7, "h:7", presence::gone}, {zero, 8, "h:8"}});
  CHECK(log_of_test.lines_between(before, now) ==
        std::vector<std::string>{
            "info /job:ps/task:0 epoch_began coordinator=/job:ps/task:0 term=20 members=2",
            "warning /job:ps/task:0 member_changed member=/job:ps/task:0 presence=gone before=here "
            "incarnation=7 address=h:7 change=3",
            "warning /job:ps/task:0 member_changed member=/job:worker/task:1 presence=unknown "
            "before=here incarnation=9 address=h:9 change=3"});
}

} // namespace troupe::test::member_log_test
