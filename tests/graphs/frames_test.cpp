// Branches and loops that wait, or that run on several devices and tasks (docs/decisions/051).
#include "tests/support/catch.hpp"
#include "tests/support/processes.hpp"
#include "tests/support/processors.hpp"
#include "tests/support/text_case.hpp"
#include "tests/support/watchdog.hpp"

#include <thread>

namespace troupe::test::frames_test {

using namespace std::chrono_literals;

namespace {

std::string with_devices(std::string text, const std::string& home, const std::string& away) {
  for (auto [placeholder, device] : {std::pair{"{home}", home}, {"{away}", away}})
    for (size_t at; (at = text.find(placeholder)) != std::string::npos;)
      text.replace(at, std::string_view{placeholder}.size(), device);
  return text;
}

// Checks the text graph with all options of the compiler.
void check_everywhere(std::string_view text) {
  for (bool deterministic : {false, true})
    for (bool region_per_node : {false, true})
      for (const auto& passes : {pass_options{}, pass_options::none()}) {
        INFO("deterministic: " << deterministic << ", a region per node: " << region_per_node
                               << ", passes: " << passes.fold);
        auto session = make_session(
            2, {.region_per_node = region_per_node, .deterministic = deterministic}, passes);
        for (auto [home, away] :
             {std::pair{"/cpu:0", "/cpu:1"}, {"/cpu:1", "/cpu:0"}, {"/cpu:0", "/cpu:0"}}) {
          INFO(home << ", " << away);
          CHECK(run_all(*session, text_case{with_devices(std::string{text}, home, away)}) == "");
        }
      }
}

void check_on_tasks(std::string_view text) {
  auto cluster = make_cluster(1, 1);
  auto ps = start_task(cluster, {"ps", 0}), worker = start_task(cluster, {"worker", 0});
  auto client = connect_to(cluster);
  for (auto [home, away] : {std::pair{"/job:ps/task:0", "/job:worker/task:0"},
                            {"/job:worker/task:0", "/job:ps/task:0"}}) {
    INFO(home << ", " << away);
    CHECK(run_all(*client, text_case{with_devices(std::string{text}, home, away)}) == "");
  }
}

constexpr std::string_view taking = R"(
q = FIFOQueue component_types=[i32] shapes=[[]] @"{home}"
put = QueueEnqueueMany(q, i32[5, 6, 7])
body less(i: i32[], sum: i32[], from: queue) {
  more = Less(i, i32(3))
  return more
}
body add(i: i32[], sum: i32[], from: queue) {
  next = QueueDequeue(from) component_types=[i32]
  after = Add(i, i32(1))
  total = Add(sum, next) @"{away}"
  return after, total, from
}
loop = While(i32(0), i32(100), q) cond=less body=add
size = QueueSize(q, ^loop)
target put
run
fetch loop:1 = i32(118)
fetch loop = i32(3)
fetch size = i32(0)
)";

constexpr std::string_view choosing = R"(
q = FIFOQueue component_types=[i32] shapes=[[]] @"{home}"
put = QueueEnqueue(q, i32(9))
body take(from: queue, x: i32[]) {
  y = QueueDequeue(from) component_types=[i32]
  return y
}
body keep(from: queue, x: i32[]) {
  y = Neg(x) @"{away}"
  return y
}
p = Placeholder dtype=bool shape=[]
y = If(p, q, i32(3)) then_branch=take else_branch=keep
size = QueueSize(q)
target put
run
feed p = bool(false)
fetch y = i32(-3)
run
fetch size = i32(1)
run
feed p = bool(true)
fetch y = i32(9)
run
fetch size = i32(0)
)";

constexpr std::string_view updating = R"(
v = VariableV2 dtype=f32 shape=[] @"{home}"
w = VariableV2 dtype=f32 shape=[] @"{away}"
init_v = Assign(v, f32(1))
init_w = Assign(w, f32(0))
body less(i: i32[], a: variable f32[], b: variable f32[]) {
  more = Less(i, i32(5))
  return more
}
body double(i: i32[], a: variable f32[], b: variable f32[]) {
  twice = Mul(a, f32(2)) @"{away}"
  set = Assign(a, twice)
  add = AssignAdd(b, set)
  next = Add(i, i32(1))
  return next, a, b
}
before = Mul(v, f32(10)) @"{away}"
loop = While(i32(0), v, w) cond=less body=double
after = Identity(v, ^loop)
after_w = Identity(w, ^loop) @"{home}"
later = AssignAdd(v, f32(0.5), ^loop)
target init_v
target init_w
run
fetch before = f32(10)
fetch after = f32(32)
fetch after_w = f32(62)
run
fetch later = f32(1024.5)
fetch loop = i32(5)
fetch w = f32(2046)
run
fetch v = f32(1024.5)
fetch w = f32(2046)
)";

// A read that comes before an update in the text and does not depend on it reads the old value,
// also if the variable is on another device.
constexpr std::string_view reading_behind = R"(
v = VariableV2 dtype=f32 shape=[] @"{away}"
w = VariableV2 dtype=f32 shape=[]
init_v = Assign(v, f32(1))
init_w = Assign(w, f32(0))
body less(i: i32[], sum: f32[], a: variable f32[], b: variable f32[]) {
  more = Less(i, i32(3))
  return more
}
body add(i: i32[], sum: f32[], a: variable f32[], b: variable f32[]) {
  set = AssignAdd(a, f32(10))
  other = AssignAdd(b, f32(1))
  twice = Mul(a, f32(2), ^other)
  total = Add(sum, twice)
  next = Add(i, i32(1), ^set)
  return next, total, a, b
}
body turn(i: i32[], a: variable f32[], b: variable f32[]) {
  loop = While(i, f32(0), a, b) cond=less body=add
  return loop:1
}
body stay(i: i32[], a: variable f32[], b: variable f32[]) {
  zero = Cast(i) SrcT=i32 DstT=f32
  return zero
}
p = Placeholder dtype=bool shape=[]
sum = If(p, i32(0), v, w) then_branch=turn else_branch=stay
target init_v
target init_w
run
feed p = bool(true)
fetch sum = f32(66)
fetch v = f32(31)
fetch w = f32(3)
)";

constexpr std::string_view nested = R"(
q = FIFOQueue component_types=[i32] shapes=[[]] @"{home}"
put = QueueEnqueueMany(q, i32[1, 2, 3, 4, 5, 6])
body inner_less(j: i32[], s: i32[], from: queue) {
  more = Less(j, i32(2))
  return more
}
body inner(j: i32[], s: i32[], from: queue) {
  x = QueueDequeue(from) component_types=[i32]
  t = Add(s, x) @"{away}"
  k = Add(j, i32(1))
  return k, t, from
}
body outer_less(i: i32[], s: i32[], from: queue) {
  more = Less(i, i32(3))
  return more
}
body outer(i: i32[], s: i32[], from: queue) {
  ten = Mul(s, i32(10)) @"{away}"
  loop = While(i32(0), ten, from) cond=inner_less body=inner
  k = Add(i, i32(1))
  return k, loop:1, from
}
loop = While(i32(0), i32(0), q) cond=outer_less body=outer
target put
run
fetch loop:1 = i32(381)
)";

constexpr std::string_view without_turns = R"(
x = Placeholder dtype=f32 shape=[-1]
n = Placeholder dtype=i32 shape=[]
body less(i: i32[], n: i32[], y: f32?) {
  more = Less(i, n)
  return more
}
body grow(i: i32[], n: i32[], y: f32?) {
  next = Add(i, i32(1)) @"{home}"
  two = ConcatV2(y, y, i32(0)) N=2 @"{away}"
  return next, n, two
}
loop = While(i32(0), n, x) cond=less body=grow
feed x = f32[1, 2]
feed n = i32(0)
fetch loop:2 = f32[1, 2]
run
feed x = f32[1, 2]
feed n = i32(2)
fetch loop:2 = f32[1, 2, 1, 2, 1, 2, 1, 2]
)";

// A reader that waits for the loop's output, of a variable that the loop only reads.
constexpr std::string_view reading = R"(
w = VariableV2 dtype=f32 shape=[] @"{home}"
init = Assign(w, f32(3))
q = FIFOQueue component_types=[f32] shapes=[[]] @"{home}"
body less(i: i32[], w: variable f32[], q: queue) {
  more = Less(i, i32(1))
  return more
}
body put(i: i32[], w: variable f32[], q: queue) {
  twice = Mul(w, f32(2)) @"{away}"
  e = QueueEnqueue(q, twice)
  k = Add(i, i32(1))
  return k, w, q
}
x = QueueDequeue(q) component_types=[f32]
y = Mul(x, w) @"{away}"
loop = While(i32(0), w, q) cond=less body=put
target init
run
fetch y = f32(18)
fetch loop = i32(1)
)";

// A result of the loop is the output of an update.
constexpr std::string_view summing = R"(
v = VariableV2 dtype=f32 shape=[] @"{away}"
init = Assign(v, f32(0))
n = Placeholder dtype=i32 shape=[]
body less(i: i32[], n: i32[], last: f32[], sum: f32[], v: variable f32[]) {
  more = Less(i, n)
  return more
}
body turn(i: i32[], n: i32[], last: f32[], sum: f32[], v: variable f32[]) {
  more = AssignAdd(v, f32(1))
  s = Add(sum, last) @"{home}"
  k = Add(i, i32(1)) @"{home}"
  return k, n, more, s, v
}
loop = While(i32(0), n, f32(0), f32(0), v) cond=less body=turn @"{home}"
u = Assign(v, f32(7), ^loop)
target init
run
feed n = i32(200)
fetch loop:3 = f32(19900)
run
feed n = i32(2)
target u
fetch loop:2 = f32(202)
fetch v = f32(7)
)";

constexpr std::array all_texts{taking, choosing,      updating, reading_behind,
                               nested, without_turns, reading,  summing};

} // namespace

TEST_CASE("branches and loops that wait run on several devices") {
  watchdog watch;
  for (auto text : all_texts)
    check_everywhere(text);
}

TEST_CASE("branches and loops run on several tasks") {
  watchdog watch;
  for (auto text : all_texts)
    check_on_tasks(text);
}

TEST_CASE("an iteration begins before the previous one has ended") {
  watchdog watch;
  auto session = make_session(1);
  text_case text{R"(
started = FIFOQueue component_types=[i32] shapes=[[]]
go = FIFOQueue component_types=[i32] shapes=[[]]
body less(i: i32[], s: i32[], started: queue, go: queue) {
  more = Less(i, i32(5))
  return more
}
body turn(i: i32[], s: i32[], started: queue, go: queue) {
  put = QueueEnqueue(started, i)
  k = Add(i, i32(1))
  x = QueueDequeue(go) component_types=[i32]
  t = Add(s, x)
  return k, t, started, go
}
loop = While(i32(0), i32(0), started, go) cond=less body=turn
fetch loop:1 = i32(15)
run
size = QueueSize(started)
fetch size
run
put = QueueEnqueueMany(go, i32[1, 2, 3, 4, 5])
target put
run
one = While(i32(0), i32(0), started, go) cond=less body=turn parallel_iterations=1
fetch one:1 = i32(15)
)"};
  enum { loop, look, release, one_by_one };
  auto await_started = [&](int32_t turns) {
    auto end = std::chrono::steady_clock::now() + 10s;
    int32_t begun = 0;
    while (begun < turns && std::chrono::steady_clock::now() < end) {
      auto queue_size = run(*session, text, look);
      REQUIRE(queue_size);
      begun = *queue_size->at(0).data<int32_t>();
    }
    return begun;
  };
  std::string failure_text = "nothing ran";
  {
    std::jthread client{
        [&] { failure_text = difference_of(text.text.runs[loop], run(*session, text)); }};
    CHECK(await_started(5) == 5);
    CHECK(run(*session, text, release).status().ok());
  }
  CHECK(failure_text == "");
  {
    std::jthread client{[&] {
      failure_text = difference_of(text.text.runs[one_by_one], run(*session, text, one_by_one));
    }};
    CHECK(await_started(6) == 6);
    std::this_thread::sleep_for(20ms);
    CHECK(await_started(6) == 6);
    CHECK(run(*session, text, release).status().ok());
  }
  CHECK(failure_text == "");
}

namespace {

constexpr std::string_view failing = R"(
q = FIFOQueue component_types=[i32] shapes=[[]] @"{home}"
put = QueueEnqueueMany(q, i32[1, 2, 0, 4])
body less(i: i32[], from: queue) {
  more = Less(i, i32(1000))
  return more
}
body turn(i: i32[], from: queue) {
  x = QueueDequeue(from) component_types=[i32]
  quotient = FloorDiv(i32(12), x) @"{away}"
  zero = Mul(quotient, i32(0))
  k = Add(i, i32(1))
  next = Add(k, zero)
  return next, from
}
loop = While(i32(0), q) cond=less body=turn
size = QueueSize(q)
target put
run
fetch loop
run
fetch size
run
only = QueueDequeueMany(q, i32(2)) component_types=[i32]
fetch only
)";

void check_failures(client& session, const text_case& text) {
  enum { put, loop, size, take };
  auto elements_left = [&] {
    auto queue_size = run(session, text, size);
    INFO(queue_size.status());
    REQUIRE(queue_size);
    return *queue_size->at(0).data<int32_t>();
  };
  REQUIRE(run(session, text, put).status().ok());
  auto failed = run(session, text, loop).status();
  INFO(failed);
  CHECK(failed.kind() == error_kind::invalid_argument);
  CHECK(failed.message().find("[While 'loop' (test:16) iteration 2]") != std::string::npos);
  CHECK(failed.message().find("cannot divide") != std::string::npos);
  CHECK(elements_left() == 4); // all elements are put back
  // Without the zero the loop waits for more elements until its deadline.
  REQUIRE(run(session, text, take).status().ok());
  REQUIRE(run(session, text, take).status().ok());
  auto late = run(session, text, loop, 300ms).status();
  INFO(late);
  CHECK(late.kind() == error_kind::deadline_exceeded);
  CHECK(late.message().find("While 'loop'") != std::string::npos);
  CHECK(elements_left() == 0);
}

} // namespace

TEST_CASE("a failed loop names its iteration, and puts back the elements that it took") {
  watchdog watch;
  check_failures(*make_session(2),
                 text_case{with_devices(std::string{failing}, "/cpu:0", "/cpu:1")});
}

TEST_CASE("a failed loop over several tasks puts back the elements that it took") {
  watchdog watch;
  auto cluster = make_cluster(1, 1);
  auto ps = start_task(cluster, {"ps", 0}), worker = start_task(cluster, {"worker", 0});
  auto client = connect_to(cluster);
  for (auto [home, away] : {std::pair{"/job:ps/task:0", "/job:worker/task:0"},
                            {"/job:worker/task:0", "/job:ps/task:0"}})
    check_failures(*client, text_case{with_devices(std::string{failing}, home, away)});
}

TEST_CASE("a loop fails when one of its tasks is lost") {
  watchdog watch;
  auto cluster = make_cluster(1, 1);
  auto worker = start_task(cluster, {"worker", 0});
  auto ps = std::make_unique<task_process>(cluster, task_name{"ps", 0});
  auto client = connect_to(cluster);
  text_case text{R"(
body less(i: i32[], n: i32[]) {
  more = Less(i, n)
  return more
}
body turn(i: i32[], n: i32[]) {
  k = Add(i, i32(1)) @"/job:ps/task:0"
  return k, n
}
n = Placeholder dtype=i32 shape=[]
loop = While(i32(0), n) cond=less body=turn
feed n = i32(100)
fetch loop = i32(100)
run
feed n = i32(2000000000)
fetch loop
)"};
  REQUIRE(difference_of(text.text.runs[0], run(*client, text)) == "");
  result<std::vector<tensor>> endless = failure(error_kind::internal, "nothing ran");
  {
    std::jthread runs{[&] { endless = run(*client, text, 1, 20s); }};
    std::this_thread::sleep_for(300ms);
    ps->kill();
  }
  INFO(endless.status());
  CHECK(endless.status().kind() == error_kind::unavailable);
  ps = std::make_unique<task_process>(cluster, task_name{"ps", 0});
  auto retried = run(*client, text);
  for (int i = 0; i < 100 && !retried; ++i) {
    std::this_thread::sleep_for(50ms);
    retried = run(*client, text);
  }
  CHECK(difference_of(text.text.runs[0], retried) == "");
}

TEST_CASE("a loop on two devices ends at its deadline") {
  watchdog watch;
  auto session = make_session(2);
  text_case text{R"(
body always(i: i64[]) {
  more = GreaterEqual(i, i64(0))
  return more
}
body turn(i: i64[]) {
  k = Add(i, i64(1)) @"/cpu:1"
  return k
}
loop = While(i64(0)) cond=always body=turn
fetch loop
)"};
  auto late = run(*session, text, 0, 200ms).status();
  CHECK(late.kind() == error_kind::deadline_exceeded);
}

} // namespace troupe::test::frames_test
