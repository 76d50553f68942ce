#include "runtime/model/repository.h"

#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/runtime/model/temp_dir.h"
#include "tests/testing/status_matchers.h"

namespace reprise {
namespace {

using ::reprise::testing::IsOk;
using ::reprise::testing::IsOkAndHolds;
using ::reprise::testing::StatusIs;
using ::reprise::testing::TempDir;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;
constexpr auto kInvalid = absl::StatusCode::kInvalidArgument;
constexpr auto kNotFound = absl::StatusCode::kNotFound;

std::vector<int64_t> Versions(const ModelSource& source) {
  std::vector<int64_t> versions;
  for (const auto& [version, unused] : source.versions) {
    versions.push_back(version);
  }
  return versions;
}

TEST(RepositoryTest, FoldersAreModelsAndIntegersAreVersions) {
  const TempDir repo;
  repo.Write("a/1/model.onnx", "x");
  repo.Write("a/10/model.onnx", "x");
  repo.Write("a/2/model.onnx", "x");
  for (const char* ignored : {"a/0", "a/03", "a/v1", "a/1a", "a/-1", "a/+4",
                              "a/99999999999999999999", "a/.5"}) {
    repo.MakeFolder(ignored);
  }
  repo.Write("a/7", "a file");
  repo.MakeFolder("b");
  repo.MakeFolder(".git");
  repo.Write("README.md", "no model");
  const auto scan = ScanRepositories({repo.path()});
  ASSERT_THAT(scan, IsOk());
  ASSERT_THAT(scan->models, SizeIs(2));
  EXPECT_THAT(Versions(scan->models.at("a")), ElementsAre(1, 2, 10));
  EXPECT_THAT(Versions(scan->models.at("b")), IsEmpty());
  EXPECT_THAT(ListModelNames({repo.path()}), ElementsAre("a", "b"));
}

TEST(RepositoryTest, AFolderWhoseNameIsNotUtf8IsNoModel) {
  const TempDir repo;
  repo.MakeFolder("a/1");
  repo.MakeFolder("b\xff/1");
  const auto scan = ScanRepositories({repo.path()});
  ASSERT_THAT(scan, IsOk());
  EXPECT_THAT(scan->models, SizeIs(1));
  EXPECT_THAT(scan->unreadable, IsEmpty());
  EXPECT_THAT(scan->misnamed, ElementsAre(repo.Path("b\\xff")));
  EXPECT_THAT(ListModelNames({repo.path()}), ElementsAre("a"));
  EXPECT_THAT(FindModel({repo.path()}, "b\xff"), StatusIs(kInvalid));
}

TEST(RepositoryTest, AnOnlyFileWhoseNameIsNotUtf8IsNoModel) {
  const TempDir dir;
  dir.Write("net/\xff.onnx", "x");
  for (const char* path : {"net", "net/\xff.onnx"}) {
    EXPECT_THAT(FindSingleModel(dir.Path(path), "m"),
                StatusIs(kInvalid, HasSubstr("'\\xff.onnx' is not a valid")));
  }
}

TEST(RepositoryTest, ANameInTwoRepositoriesIsAmbiguous) {
  const TempDir first;
  const TempDir second;
  first.MakeFolder("both/1");
  second.MakeFolder("both/1");
  second.MakeFolder("one/1");
  const auto scan = ScanRepositories({first.path(), second.path()});
  ASSERT_THAT(scan, IsOk());
  EXPECT_THAT(scan->ambiguous, ElementsAre("both"));
  EXPECT_THAT(scan->models, SizeIs(1));
  EXPECT_THAT(FindModel({first.path(), second.path()}, "both"),
              StatusIs(kInvalid, HasSubstr("more than one")));
  EXPECT_THAT(FindModel({first.path(), second.path()}, "one"), IsOk());
}

TEST(RepositoryTest, ARepositoryThatIsNotThereIsNamed) {
  EXPECT_THAT(ScanRepositories({"/no/such/folder"}),
              StatusIs(kNotFound, HasSubstr("/no/such/folder")));
  EXPECT_THAT(ListModelNames({"/no/such/folder"}), IsEmpty());
}

TEST(RepositoryTest, NoNameLeadsOutOfTheRepository) {
  const TempDir repo;
  repo.MakeFolder("a/1");
  EXPECT_THAT(FindModel({repo.path()}, "a"), IsOk());
  EXPECT_THAT(FindModel({repo.path()}, "b"), StatusIs(kNotFound));
  const std::string leaf = repo.path().substr(repo.path().rfind('/') + 1);
  for (const std::string& name :
       {std::string(""), std::string(".."), std::string("a/1"),
        "../" + leaf + "/a", repo.Path("a")}) {
    EXPECT_THAT(FindModel({repo.path()}, name), StatusIs(kInvalid)) << name;
  }
}

TEST(RepositoryTest, AModelsFolderMayBeALinkButNothingBelowIt) {
  const TempDir repo;
  const TempDir store;
  store.Write("v/1/model.onnx", "x");
  store.Link(store.Path("v/1/model.onnx"), "v/config.pbtxt");
  repo.Link(store.Path("v"), "a");
  const auto source = FindModel({repo.path()}, "a");
  ASSERT_THAT(source, IsOk());
  EXPECT_EQ(source->folder, store.Path("v"));
  EXPECT_THAT(source->Read("1/model.onnx", 9), IsOkAndHolds("x"));
  EXPECT_THAT(source->Read("config.pbtxt", 9),
              StatusIs(absl::StatusCode::kPermissionDenied));
}

// As a ConfigMap's volume has it, whose files come and go all at once.
TEST(RepositoryTest, AVersionMayBeALinkWithinTheRepository) {
  const TempDir repo;
  repo.Write("a/..one/1/model.onnx", "x");
  repo.Link("..one", "a/..data");
  repo.Link("..data/1", "a/1");
  repo.Write("shared/model.onnx", "y");
  repo.Link(repo.Path("shared"), "a/2");
  const auto source = FindModel({repo.path()}, "a");
  ASSERT_THAT(source, IsOk());
  EXPECT_THAT(Versions(*source), ElementsAre(1, 2));
  EXPECT_THAT(source->warnings, IsEmpty());
  const VersionFile& first = source->versions.at(1);
  EXPECT_EQ(source->FolderOf(first), repo.Path("a/..one/1"));
  EXPECT_THAT(source->ReadOf(first, "model.onnx", 9), IsOkAndHolds("x"));
  EXPECT_THAT(source->ReadOf(source->versions.at(2), "model.onnx", 9),
              IsOkAndHolds("y"));
  EXPECT_THAT(source->ReadOf(first, "../../config.pbtxt", 9),
              StatusIs(kInvalid));
}

TEST(RepositoryTest, AVersionMayBeALinkWithinAModelThatLiesElsewhere) {
  const TempDir repo;
  const TempDir store;
  store.Write("m/builds/9/model.onnx", "x");
  store.Link("builds/9", "m/1");
  repo.Link(store.Path("m"), "a");
  const auto source = FindModel({repo.path()}, "a");
  ASSERT_THAT(source, IsOk());
  EXPECT_THAT(Versions(*source), ElementsAre(1));
  EXPECT_THAT(source->ReadOf(source->versions.at(1), "model.onnx", 9),
              IsOkAndHolds("x"));
}

TEST(RepositoryTest, AVersionThatLeadsOutOfTheRepositoryIsLeftOutAloud) {
  const TempDir repo;
  const TempDir elsewhere;
  elsewhere.Write("v/model.onnx", "x");
  repo.Write("a/1/model.onnx", "x");
  repo.Link(elsewhere.Path("v"), "a/2");
  repo.Link(repo.Path("absent"), "a/3");
  const auto source = FindModel({repo.path()}, "a");
  ASSERT_THAT(source, IsOk());
  EXPECT_THAT(Versions(*source), ElementsAre(1));
  EXPECT_THAT(source->warnings,
              ElementsAre(AllOf(HasSubstr("2 is a link"),
                                HasSubstr(elsewhere.Path("v")))));
}

TEST(RepositoryTest, OnlyWhatHasGoneIsMissingInAScan) {
  const TempDir repo;
  repo.MakeFolder("fine/1");
  repo.Link("circle", "circle");  // to itself
  repo.MakeFolder("inside");
  repo.Link("1", "inside/1");  // likewise
  repo.Link(repo.Path("absent"), "gone");
  const auto scan = ScanRepositories({repo.path()});
  ASSERT_THAT(scan, IsOk());
  EXPECT_THAT(scan->models, SizeIs(1));
  ASSERT_THAT(scan->unreadable, SizeIs(2));
  EXPECT_FALSE(scan->unreadable.at("circle").ok());
  EXPECT_FALSE(scan->unreadable.at("inside").ok());
  EXPECT_THAT(FindModel({repo.path()}, "gone"), StatusIs(kNotFound));
  EXPECT_THAT(ListModelNames({repo.path()}),
              ElementsAre("circle", "fine", "inside"));
}

TEST(RepositoryTest, FindsASingleModelInAnyLayout) {
  const TempDir dir;
  dir.Write("nested/m/3/model.onnx", "a");
  dir.Write("versions/2/model.onnx", "b");
  dir.Write("flat/model.onnx", "c");
  dir.Write("flat/other.onnx", "d");
  dir.Write("one/net.onnx", "e");
  const auto nested = FindSingleModel(dir.Path("nested"), "m");
  ASSERT_THAT(nested, IsOk());
  EXPECT_THAT(Versions(*nested), ElementsAre(3));
  EXPECT_EQ(nested->folder, dir.Path("nested/m"));
  const auto versions = FindSingleModel(dir.Path("versions"), "m");
  ASSERT_THAT(versions, IsOk());
  EXPECT_THAT(Versions(*versions), ElementsAre(2));
  EXPECT_EQ(versions->name, "m");
  EXPECT_EQ(FindSingleModel(dir.Path("flat"), "m")->versions.at(1).file,
            "model.onnx");
  EXPECT_EQ(FindSingleModel(dir.Path("one"), "m")->versions.at(1).file,
            "net.onnx");
  const auto file = FindSingleModel(dir.Path("one/net.onnx"), "m");
  ASSERT_THAT(file, IsOk());
  EXPECT_THAT(file->Read(file->versions.at(1).file, 9), IsOkAndHolds("e"));
}

TEST(RepositoryTest, ASingleModelsFolderMayHaveAnyName) {
  const TempDir dir;
  dir.Write("one/simple/3/model.onnx", "x");
  dir.MakeFolder("one/notes");
  dir.Write("two/a/1/model.onnx", "x");
  dir.Write("two/b/1/model.onnx", "x");
  const auto model = FindSingleModel(dir.Path("one"), "m");
  ASSERT_THAT(model, IsOk());
  EXPECT_EQ(model->name, "m");
  EXPECT_EQ(model->folder, dir.Path("one/simple"));
  EXPECT_THAT(Versions(*model), ElementsAre(3));
  EXPECT_THAT(FindSingleModel(dir.Path("two"), "m"),
              StatusIs(kInvalid, HasSubstr("2 models (a, b)")));
}

TEST(RepositoryTest, SaysWhatItLookedForInASingleModelsFolder) {
  const TempDir dir;
  dir.MakeFolder("empty");
  dir.Write("two/a.onnx", "x");
  dir.Write("two/b.onnx", "x");
  EXPECT_THAT(FindSingleModel(dir.Path("empty"), "m"),
              StatusIs(kNotFound, HasSubstr("model.onnx")));
  EXPECT_THAT(FindSingleModel(dir.Path("two"), "m"),
              StatusIs(kInvalid, HasSubstr("2 *.onnx files")));
  EXPECT_THAT(FindSingleModel(dir.Path("absent"), "m"), StatusIs(kNotFound));
  EXPECT_THAT(FindSingleModel(dir.Path("empty"), "../m"), StatusIs(kInvalid));
}

TEST(RepositoryTest, ALoadRequestMayBringItsFiles) {
  const auto source =
      SourceFromFiles("m", {{"1/model.onnx", "x"}, {"3/sub/data", "y"}});
  ASSERT_THAT(source, IsOk());
  EXPECT_TRUE(source->in_memory());
  EXPECT_THAT(Versions(*source), ElementsAre(1, 3));
  EXPECT_THAT(source->Read("1/model.onnx", 9), IsOkAndHolds("x"));
  EXPECT_THAT(source->Read("1/model.onnx", 0),
              StatusIs(absl::StatusCode::kResourceExhausted));
  EXPECT_THAT(source->Read("config.pbtxt", 9), StatusIs(kNotFound));
  for (const char* path : {"model.onnx", "1", "1/", "01/x", "0/x", "1/../x",
                           "../1/x", "/1/x", "a/x", ""}) {
    EXPECT_THAT(SourceFromFiles("m", {{path, "x"}}), StatusIs(kInvalid))
        << path;
  }
}

TEST(RepositoryTest, SelectsVersionsByPolicy) {
  ModelSource source;
  source.name = "m";
  for (const int64_t version : {1, 2, 5}) source.versions[version] = {};
  inference::ModelVersionPolicy policy;
  EXPECT_THAT(SelectVersions(source, policy), IsOkAndHolds(ElementsAre(5)));
  policy.mutable_latest()->set_num_versions(2);
  EXPECT_THAT(SelectVersions(source, policy), IsOkAndHolds(ElementsAre(2, 5)));
  policy.mutable_latest()->set_num_versions(9);
  EXPECT_THAT(SelectVersions(source, policy),
              IsOkAndHolds(ElementsAre(1, 2, 5)));
  policy.mutable_all();
  EXPECT_THAT(SelectVersions(source, policy),
              IsOkAndHolds(ElementsAre(1, 2, 5)));
  policy.mutable_specific()->add_versions(5);
  policy.mutable_specific()->add_versions(1);
  policy.mutable_specific()->add_versions(7);
  EXPECT_THAT(SelectVersions(source, policy), IsOkAndHolds(ElementsAre(1, 5)));
  policy.mutable_specific()->clear_versions();
  policy.mutable_specific()->add_versions(7);
  EXPECT_THAT(SelectVersions(source, policy),
              StatusIs(kNotFound, HasSubstr("version policy")));
  source.versions.clear();
  EXPECT_THAT(SelectVersions(source, {}),
              StatusIs(kNotFound, HasSubstr("no version folder")));
}

TEST(RepositoryTest, TheFingerprintFollowsEveryChange) {
  const TempDir repo;
  repo.Write("a/1/model.onnx", "x");
  const auto print = [&] {
    const auto source = FindModel({repo.path()}, "a");
    EXPECT_THAT(source, IsOk());
    return *Fingerprint(*source);
  };
  const std::string first = print();
  EXPECT_EQ(print(), first);
  repo.Write("a/1/model.onnx", "y");  // the same size, another file
  const std::string replaced = print();
  EXPECT_NE(replaced, first);
  repo.Write("a/config.pbtxt", "");
  const std::string added = print();
  EXPECT_NE(added, replaced);
  repo.MakeFolder("a/2");
  EXPECT_NE(print(), added);
  repo.Remove("a/2");
  EXPECT_EQ(print(), added);
}

TEST(RepositoryTest, TheFingerprintFollowsTheLinksOfVersions) {
  const TempDir repo;
  repo.Write("a/..one/1/model.onnx", "x");
  repo.Write("a/..two/1/model.onnx", "x");
  repo.Link("..one", "a/..data");
  repo.Link("..data/1", "a/1");
  const auto print = [&] {
    const auto source = FindModel({repo.path()}, "a");
    EXPECT_THAT(source, IsOk());
    return *Fingerprint(*source);
  };
  const std::string first = print();
  EXPECT_EQ(print(), first);
  repo.Write("a/..one/1/model.onnx", "y");
  const std::string written = print();
  EXPECT_NE(written, first);
  repo.Remove("a/..data");
  repo.Link("..two", "a/..data");
  EXPECT_NE(print(), written);
}

}  // namespace
}  // namespace reprise
