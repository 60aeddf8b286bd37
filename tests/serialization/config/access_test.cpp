#include "troupe/serialization/config/access.hpp"

#include "tests/support/catch.hpp"

namespace troupe::test::access_test {

using Catch::Matchers::Contains;

namespace {

const std::string digest(64, 'a'), other_digest(64, 'b');

std::string why_not(const std::string& text) {
  auto parsed = access_list::parse(text, "list.json");
  return parsed ? "it was taken" : parsed.status().message();
}

} // namespace

TEST_CASE("an access list defines the rights of clients by name, by token, and of others") {
  auto list = access_list::parse(R"({
    "clients": {"alice": {"may": ["register", "run", "reset"]},
                "*": {"may": ["run"], "connections": 2, "programs": 3, "steps": 4, "sessions": 6, "bytes": 5}},
    "tokens": {"ci": {"sha256": ")" +
                                 digest + R"(", "may": ["register", "run"]}}})");
  REQUIRE(list);
  const auto* alice = list->rights_of_client("alice");
  REQUIRE(alice);
  CHECK(*alice == access_rights{.may_register = true, .may_run = true, .may_reset = true});
  const auto* bob = list->rights_of_client("bob");
  REQUIRE(bob);
  CHECK(*bob == access_rights{.may_register = false,
                              .may_run = true,
                              .may_reset = false,
                              .connections = 2,
                              .programs = 3,
                              .steps = 4,
                              .sessions = 6,
                              .bytes = 5});
  const auto* ci = list->client_of_token(digest);
  REQUIRE(ci);
  CHECK(ci->name == "ci");
  CHECK(ci->rights == access_rights{.may_register = true, .may_run = true});
  CHECK(!list->client_of_token(other_digest));
  CHECK(!list->client_of_token(""));
  CHECK(list->has_tokens());
}

TEST_CASE("an access list without 'others' refuses unlisted clients") {
  auto list = access_list::parse(R"({"clients": {"alice": {"may": []}}})");
  REQUIRE(list);
  CHECK(list->rights_of_client("alice"));
  CHECK(!list->rights_of_client("bob"));
  CHECK(!list->has_tokens());
  CHECK(access_list::parse("{}"));
}

TEST_CASE("an invalid access list is refused, naming the key and the file") {
  CHECK_THAT(why_not("{"), Contains("list.json: is not JSON"));
  CHECK_THAT(why_not("[]"), Contains("must be an object"));
  CHECK_THAT(why_not(R"({"client": {}})"), Contains("\"client\""));
  CHECK_THAT(why_not(R"({"clients": []})"), Contains("objects named clients and tokens"));
  CHECK_THAT(why_not(R"({"clients": {"a": {}}})"), Contains("client \"a\" must be an object"));
  CHECK_THAT(why_not(R"({"clients": {"a": {"may": ["write"]}}})"),
             Contains("lists register, run, reset and drain, got \"write\""));
  CHECK_THAT(why_not(R"({"clients": {"a": {"may": [1]}}})"), Contains("got 1"));
  CHECK_THAT(why_not(R"({"clients": {"a": {"may": [], "step": 1}}})"), Contains("has no \"step\""));
  CHECK_THAT(why_not(R"({"clients": {"a": {"may": [], "sha256": ""}}})"),
             Contains("has no \"sha256\""));
  for (const auto* value : {"0", "-1", "1.5", "\"1\"", "null"})
    CHECK_THAT(why_not(concat(R"({"clients": {"a": {"may": [], "steps": )", value, "}}}")),
               Contains("steps must be a whole number above 0"));
  CHECK_THAT(why_not(R"({"tokens": {"ci": {"may": []}}})"), Contains("sha256 must be 64"));
  CHECK_THAT(
      why_not(R"({"tokens": {"ci": {"may": [], "sha256": ")" + std::string(64, 'A') + "\"}}}"),
      Contains("sha256 must be 64"));
  CHECK_THAT(why_not(R"({"tokens": {"a": {"may": [], "sha256": ")" + digest +
                     R"("}, "b": {"may": [], "sha256": ")" + digest + "\"}}}"),
             Contains("has the sha256 of \"a\""));
  CHECK_THAT(why_not(R"({"clients": {"a": {"may": []}, "a": {"may": ["run"]}}})"),
             Contains("has 'a' twice"));
  CHECK_THAT(why_not(std::string(10'000, '[')), Contains("list.json"));
  CHECK_THAT(why_not(R"({"clients": {"a": {"may": [[[[[[[[]]]]]]]]}}})"), Contains("nested"));
}

} // namespace troupe::test::access_test
