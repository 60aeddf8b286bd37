#include "troupe/actors/membership/member_log.hpp"

#include "tests/support/catch.hpp"

namespace troupe::test::member_log_test {

namespace {

const task_name ps{"ps", 0}, zero{"worker", 0}, one{"worker", 1};

struct told_log {
  std::vector<std::string> lines;
  event_log log{"/job:ps/task:0", [this](const log_event& what) {
                  auto line = to_line(what);
                  lines.push_back(line.substr(line.find(' ') + 1)); // without the time
                }};
  std::vector<std::string> of(const member_list& before, const member_list& now) {
    lines.clear();
    log_members(log, before, now);
    return lines;
  }
};

member_list list_of(uint64_t term, std::vector<cluster_member> members) {
  member_list made;
  made.begin_term(term, ps);
  for (auto& each : members)
    made.put(std::move(each));
  return made;
}

} // namespace

TEST_CASE("the log tells each change of a member, and who decides; of the first list no members") {
  told_log told;
  auto first = list_of(7, {{ps, 7, "h:7"}, {zero, 8, "h:8"}});
  CHECK(told.of({}, first) ==
        std::vector<std::string>{
            "info /job:ps/task:0 epoch_began coordinator=/job:ps/task:0 term=7 members=2"});
  auto now = first;
  now.put({zero, 8, "h:8", presence::unreachable});
  now.put({one, 9, "h:9"});
  CHECK(told.of(first, now) ==
        std::vector<std::string>{
            "warning /job:ps/task:0 member_changed member=/job:worker/task:0 presence=unreachable "
            "before=here incarnation=8 address=h:8 change=5",
            "info /job:ps/task:0 member_changed member=/job:worker/task:1 presence=here "
            "before=unknown incarnation=9 address=h:9 change=5"});
  CHECK(told.of(now, now).empty());
  auto later = now;
  later.put({zero, 10, "h:10"}); // a process that follows the one that was unreachable
  later.put({one, 9, "h:9", presence::left});
  CHECK(told.of(now, later) ==
        std::vector<std::string>{
            "info /job:ps/task:0 member_changed member=/job:worker/task:0 presence=here "
            "before=unreachable incarnation=10 address=h:10 change=7",
            "info /job:ps/task:0 member_changed member=/job:worker/task:1 presence=left "
            "before=here incarnation=9 address=h:9 change=7"});
}

TEST_CASE("of a list that another task decides, only what is different is told") {
  told_log told;
  auto before = list_of(7, {{ps, 7, "h:7"}, {zero, 8, "h:8"}, {one, 9, "h:9"}});
  auto now = list_of(20, {{ps, 7, "h:7", presence::gone}, {zero, 8, "h:8"}});
  CHECK(told.of(before, now) ==
        std::vector<std::string>{
            "info /job:ps/task:0 epoch_began coordinator=/job:ps/task:0 term=20 members=2",
            "warning /job:ps/task:0 member_changed member=/job:ps/task:0 presence=gone before=here "
            "incarnation=7 address=h:7 change=3",
            "warning /job:ps/task:0 member_changed member=/job:worker/task:1 presence=unknown "
            "before=here incarnation=9 address=h:9 change=3"});
}

} // namespace troupe::test::member_log_test
