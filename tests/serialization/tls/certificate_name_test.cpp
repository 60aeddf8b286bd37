#include "troupe/serialization/tls/certificate_name.hpp"

#include "tests/support/catch.hpp"

namespace troupe::test::certificate_name_test {

TEST_CASE("a certificate's name survives writing and reading") {
  for (const auto& name :
       {certificate_name::of_task("", {"worker", 0}), certificate_name::of_task("prod", {"ps", 17}),
        certificate_name::of_job("prod", "worker"), certificate_name::of_client("", "alice"),
        certificate_name::of_client("a b/c%", "Zoë, of: /job:worker/task:0")}) {
    auto text = to_string(name);
    INFO(text);
    auto read = certificate_name::parse(text);
    REQUIRE(read);
    CHECK(*read == name);
  }
  CHECK(to_string(certificate_name::of_task("prod", {"worker", 3})) ==
        "troupe://prod/job:worker/task:3");
  CHECK(to_string(certificate_name::of_client("a/b", "x")) == "troupe://a%2Fb/client:x");
}

TEST_CASE("invalid names of a certificate are refused, and so is a second spelling") {
  for (const auto* text : {"",
                           "troupe:",
                           "troupe://",
                           "troupe:///",
                           "troupe://c",
                           "http://c/job:worker/task:0",
                           "troupe:///job:",
                           "troupe:///job:worker/",
                           "troupe:///job:worker/task:",
                           "troupe:///job:worker/task:-1",
                           "troupe:///job:worker/task:+1",
                           "troupe:///job:worker/task:01",
                           "troupe:///job:worker/task:0/",
                           "troupe:///job:worker/task:99999999999",
                           "troupe:///job:1/task:0",
                           "troupe:///job:wor ker/task:0",
                           "troupe:///client:",
                           "troupe:///client:a b",
                           "troupe:///client:%61",
                           "troupe:///client:%2f",
                           "troupe:///client:%2",
                           "troupe:///client:%",
                           "troupe:///client:%zz",
                           "troupe://a/b/job:worker/task:0",
                           "TROUPE:///client:a",
                           "troupe:///job:worker/task:0\n"}) {
    INFO(text);
    CHECK(certificate_name::parse(text).status().kind() == error_kind::invalid_argument);
  }
  CHECK(!certificate_name::parse("troupe:///client:" + std::string(300, 'a')));
  CHECK(!certificate_name::parse({"troupe:///client:a\0b", 20}));
}

TEST_CASE(
    "a task's name covers the task, a job's name all of its tasks, and a client's name no task") {
  const task_name zero{"worker", 0}, one{"worker", 1}, other{"ps", 0};
  auto task = certificate_name::of_task("c", zero), job = certificate_name::of_job("c", "worker");
  CHECK(task.covers(zero));
  CHECK(!task.covers(one));
  CHECK(!task.covers(other));
  CHECK(job.covers(one));
  CHECK(!job.covers(other));
  CHECK(!certificate_name::of_client("c", "worker").covers(zero));
  CHECK(covers({certificate_name::of_client("c", "x"), job}, "c", one));
  CHECK(!covers({job}, "another", one));
  CHECK(!covers({}, "c", one));
}

} // namespace troupe::test::certificate_name_test
