#include "tests/support/catch.hpp"
#include "troupe/serialization/reports/region_report.hpp"

namespace troupe::test::region_report_test {

namespace {

const std::string device = "/job:a/task:0/device:cpu:0";

span_subject subject(span_kind kind, std::string name, std::string op, uint32_t region) {
  return {.kind = kind,
          .name = std::move(name),
          .op = std::move(op),
          .device = device,
          .region = region};
}

// A program in which region 0 asks a queue, and region 1 multiplies the answer.
step_statistics example() {
  auto subjects = std::make_shared<std::vector<span_subject>>();
  subjects->push_back(subject(span_kind::node, "x", "QueueDequeue", 0));
  subjects->push_back(subject(span_kind::node, "w", "Const", 0)); // a token
  subjects->push_back(subject(span_kind::node, "x", "QueueDequeue", 1));
  subjects->push_back(subject(span_kind::node, "y", "MatMul", 1));
  subjects->push_back(subject(span_kind::node, "", "", 1));
  subjects->push_back(subject(span_kind::node, "y", "MatMul", 1));
  for (uint32_t r : {0, 1}) {
    auto region = subject(span_kind::region, concat("region ", r), "", r);
    region.messages = r + 1;
    subjects->push_back(region);
  }
  subjects->push_back(subject(span_kind::wait, "x", "QueueDequeue", 1));
  subjects->push_back(subject(span_kind::inner, "loop [body] z", "Neg", 1));
  task_statistics task{.task = "/job:a/task:0", .subjects = subjects};
  task.messages = {.starts = 1,
                   .tokens = 1,
                   .requests = 1,
                   .answers = 1,
                   .fetches = 1,
                   .region_ends = 2,
                   .step_ends = 1};
  task.expected_messages = task.messages;
  step_statistics step;
  step.tasks.push_back(std::move(task));
  return step;
}

} // namespace

TEST_CASE("the report lists the nodes of each region, and the messages by kind") {
  CHECK(region_report(example()) ==
        "# /job:a/task:0: 2 regions, 8 messages\n"
        "#   cpu:0 region 0, after 1 message: QueueDequeue 'x', Const 'w'\n"
        "#   cpu:0 region 1, after 2 messages: answer of QueueDequeue 'x', MatMul 'y'\n"
        "#   1 start, 1 token, 1 request, 1 answer, 1 fetch, 2 region ends, 1 step end\n");
  CHECK(region_report({}) == "");
}

TEST_CASE("the report of a step that failed has the messages of a step that succeeds, too") {
  auto step = example();
  step.tasks[0].messages = {.starts = 1, .requests = 1};
  auto report = region_report(step);
  CHECK(report.find("# /job:a/task:0: 2 regions, 2 messages\n") != std::string::npos);
  CHECK(report.ends_with("#   1 start, 1 request\n"
                         "#   of a step that succeeds: 1 start, 1 token, 1 request, 1 answer, "
                         "1 fetch, 2 region ends, 1 step end\n"));
}

TEST_CASE("a long region is listed with its first nodes, and names are printable") {
  auto step = example();
  auto subjects = *step.tasks[0].subjects;
  subjects[3].name = "a\x1b[2J";
  for (int i = 0; i < 20; ++i)
    subjects.push_back(subject(span_kind::node, concat('n', i), "Neg", 1));
  step.tasks[0].subjects = std::make_shared<const std::vector<span_subject>>(subjects);
  auto report = region_report(step);
  CHECK(report.find('\x1b') == std::string::npos);
  CHECK(report.find("Neg 'n4' and 15 more\n") != std::string::npos);
  CHECK(report.find("'n5'") == std::string::npos);
  CHECK(report.find(",\n#       ") != std::string::npos);
  for (size_t begin = 0, end; (end = report.find('\n', begin)) != std::string::npos;
       begin = end + 1)
    CHECK(end - begin <= 100);
}

TEST_CASE("statistics without subjects have a report of their messages") {
  auto step = example();
  step.tasks[0].subjects = nullptr;
  CHECK(region_report(step).find("# /job:a/task:0: 0 regions, 8 messages\n") == 0);
}

} // namespace troupe::test::region_report_test
