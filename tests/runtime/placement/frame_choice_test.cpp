// Which functions run as frames, and which of these run on a GPU.
#include "tests/support/catch.hpp"
#include "tests/support/simulated_gpus.hpp"
#include "tests/support/text_case.hpp"
#include "troupe/runtime/placement/frame_choice.hpp"

namespace troupe::test::frame_choice_test {
namespace {

device_list list(std::initializer_list<const char*> names) {
  device_list devices;
  for (const auto* device : names)
    devices.push_back(*device_name::parse(device));
  return devices;
}

const device_list processor = list({"/job:worker/task:0/cpu:0"}),
                  with_gpu = list({"/job:worker/task:0/cpu:0", "/job:worker/task:0/gpu:0"});

// `v` is a variable that a loop adds to; `{of_v}`, `{of_body}` and `{of_loop}` are devices.
struct loop_case {
  explicit loop_case(std::string of_v, std::string of_body, std::string of_loop,
                     const registry* ops = &simulated_library(), const char* v = "VariableV2")
      : text(concat("v = ", v, " dtype=f32 shape=[] ", of_v, R"(
body less(i: i32[], v: variable f32[]) {
  y = Less(i, i32(3))
  return y
}
body next(i: i32[], v: variable f32[]) {
  more = AssignAdd(v, f32(2))
  next = Add(i, i32(1)) )",
                    of_body, R"(
  return next, v
}
loop = While(i32(0), v) cond=less body=next )",
                    of_loop, "\n"),
             "test", ops) {}

  const node& loop() const { return *text.nodes->find("loop"); }

  text_case text;
};

const std::string none, gpu = "@\"/gpu:0\"", cpu = "@\"/cpu:0\"";

} // namespace

TEST_CASE("a loop runs on a GPU if a device constraint requires it, or a variable would be there") {
  CHECK(belongs_to_gpu(loop_case{gpu, none, none}.loop()));
  CHECK(belongs_to_gpu(loop_case{none, gpu, none}.loop()));
  CHECK(belongs_to_gpu(loop_case{none, none, gpu}.loop()));
  CHECK(belongs_to_gpu(loop_case{none, none, none}.loop()));
  CHECK(!belongs_to_gpu(loop_case{cpu, none, none}.loop()));
  CHECK(!belongs_to_gpu(loop_case{none, none, cpu}.loop()));
  CHECK(!belongs_to_gpu(loop_case{cpu, gpu, none}.loop())); // on both
  // There is no GPU kernel that could update the variable.
  CHECK(!belongs_to_gpu(loop_case{none, none, none, nullptr}.loop()));
  // A nested step could not use the outer step's state.
  CHECK(!belongs_to_gpu(
      loop_case{none, none, gpu, &simulated_library(), "TemporaryVariable"}.loop()));
}

TEST_CASE("a loop that belongs to a GPU is a frame where there is a GPU, otherwise a block") {
  for (const auto& looped : {loop_case{gpu, none, none}, loop_case{none, none, none}}) {
    CHECK(needs_frame(looped.loop(), with_gpu));
    CHECK(!needs_frame(looped.loop(), processor));
  }
  CHECK(!needs_frame(loop_case{cpu, none, none}.loop(), with_gpu));
  CHECK(needs_frame(loop_case{cpu, gpu, none}.loop(), processor)); // on several devices
  // On another task than the GPU's it stays a block; an unplaced loop may move there.
  auto two_tasks = with_gpu;
  two_tasks.push_back(*device_name::parse("/job:ps/task:0/cpu:0"));
  CHECK(!needs_frame(loop_case{"@\"/job:ps\"", none, none}.loop(), two_tasks));
  CHECK(needs_frame(loop_case{"@\"/job:worker\"", none, none}.loop(), two_tasks));
  CHECK(needs_frame(loop_case{none, none, "@\"/gpu:7\""}.loop(), two_tasks));
}

} // namespace troupe::test::frame_choice_test
