#include "client/cli/image_tensor.h"

#include "client/cli/elements.h"
#include "tests/testing/status_matchers.h"

namespace reprise::client {
namespace {

using reprise::testing::IsOk;
using reprise::testing::kInvalid;
using reprise::testing::StatusIs;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

const Image kGray{2, 1, 1, {0, 255}};
const Image kRgb{2, 1, 3, {1, 2, 3, 11, 12, 13}};

Tensor Target(const char* datatype, std::vector<int64_t> shape) {
  return {"image", datatype, std::move(shape), ""};
}

std::vector<double> Numbers(const Tensor& tensor) {
  std::vector<double> numbers;
  const size_t size = *ElementSize(tensor.datatype);
  for (size_t i = 0; i < tensor.bytes.size(); i += size) {
    numbers.push_back(ReadElement(tensor.datatype, tensor.bytes.data() + i));
  }
  return numbers;
}

TEST(ImageTensorTest, ChannelsGoFirstOrLastAsTheDimsSay) {
  const auto first =
      PicturesToTensor({kRgb}, Target("UINT8", {-1, 3, 1, 2}), {});
  ASSERT_THAT(first, IsOk());
  EXPECT_EQ(first->name, "image");
  EXPECT_THAT(first->shape, ElementsAre(1, 3, 1, 2));
  EXPECT_THAT(Numbers(*first), ElementsAre(1, 11, 2, 12, 3, 13));

  const auto last = PicturesToTensor({kRgb}, Target("FP32", {5, 2, 3}), {});
  ASSERT_THAT(last, IsOk());
  EXPECT_THAT(last->shape, ElementsAre(5, 2, 3));
}

TEST(ImageTensorTest, TheFlagDecidesWhereDimsDoNotTell) {
  const Tensor target = Target("UINT8", {-1, -1, -1, -1});
  PixelOptions options;
  EXPECT_THAT(PicturesToTensor({kRgb}, target, options)->shape,
              ElementsAre(1, 3, 1, 2));
  options.layout = Layout::kNhwc;
  const auto last = PicturesToTensor({kRgb}, target, options);
  EXPECT_THAT(last->shape, ElementsAre(1, 1, 2, 3));
  EXPECT_THAT(Numbers(*last), ElementsAre(1, 2, 3, 11, 12, 13));
}

TEST(ImageTensorTest, SeveralPicturesAreABatch) {
  const auto batch =
      PicturesToTensor({kGray, kRgb}, Target("UINT8", {-1, 1, 1, 2}), {});
  ASSERT_THAT(batch, IsOk());
  EXPECT_THAT(batch->shape, ElementsAre(2, 1, 1, 2));
  EXPECT_THAT(Numbers(*batch), ElementsAre(0, 255, 2, 12));
  EXPECT_THAT(PicturesToTensor({kGray, kGray}, Target("UINT8", {1, 1, 2}), {}),
              StatusIs(kInvalid, HasSubstr("no batch axis for 2")));
}

TEST(ImageTensorTest, ValuesAreScaledAndNormalised) {
  PixelOptions options;
  options.scale = 1.0 / 255;
  options.mean = {0.5};
  options.std = {0.25};
  EXPECT_THAT(
      Numbers(*PicturesToTensor({kGray}, Target("FP32", {1, 1, 2}), options)),
      ElementsAre(-2, 2));

  options = {};
  options.mean = {1, 2, 3};
  options.std = {1, 1, 2};
  EXPECT_THAT(
      Numbers(*PicturesToTensor({kRgb}, Target("FP16", {3, 1, 2}), options)),
      ElementsAre(0, 10, 0, 10, 0, 5));
  options.mean = {1, 2};
  EXPECT_THAT(PicturesToTensor({kRgb}, Target("FP32", {3, 1, 2}), options),
              StatusIs(kInvalid,
                       "--mean has 2 values, but there are 3 "
                       "channels"));
  EXPECT_THAT(PicturesToTensor({kGray}, Target("FP32", {1, 1, 2}), options),
              StatusIs(kInvalid, HasSubstr("but there is 1 channel")));
}

TEST(ImageTensorTest, PicturesTakeTheModelsSizeAndColours) {
  const auto resized =
      PicturesToTensor({kGray}, Target("UINT8", {-1, 3, 4, 4}), {});
  ASSERT_THAT(resized, IsOk());
  EXPECT_THAT(resized->shape, ElementsAre(1, 3, 4, 4));

  PixelOptions options;
  options.resize = {6, 5};
  options.gray = true;
  EXPECT_THAT(
      PicturesToTensor({kRgb}, Target("UINT8", {-1, -1, -1, -1}), options)
          ->shape,
      ElementsAre(1, 1, 5, 6));
}

TEST(ImageTensorTest, FixedDimsRefuseAnotherSize) {
  const Tensor target = Target("UINT8", {-1, 1, 5, -1});
  PixelOptions options;
  options.resize = {6, 5};
  EXPECT_THAT(PicturesToTensor({kGray}, target, options)->shape,
              ElementsAre(1, 1, 5, 6));
  options.resize = {5, 6};
  EXPECT_THAT(PicturesToTensor({kGray}, target, options),
              StatusIs(kInvalid, HasSubstr("--resize is another size")));
}

TEST(ImageTensorTest, RowsWithoutChannelsAndFlatRows) {
  EXPECT_THAT(PicturesToTensor({kRgb}, Target("UINT8", {-1, 1, 2}), {})->shape,
              ElementsAre(1, 1, 2));
  EXPECT_THAT(PicturesToTensor({kGray}, Target("UINT8", {-1, 2}), {})->shape,
              ElementsAre(1, 2));
  EXPECT_THAT(PicturesToTensor({kRgb}, Target("UINT8", {-1, 2}), {}),
              StatusIs(kInvalid, HasSubstr("this one has 6 values")));
}

TEST(ImageTensorTest, SaysWhyAPictureDoesNotFit) {
  EXPECT_THAT(PicturesToTensor({kGray}, Target("BYTES", {1, 1, 2}), {}),
              StatusIs(kInvalid,
                       "input \"image\" [1, 1, 2] cannot take a picture: its "
                       "datatype is BYTES"));
  EXPECT_THAT(PicturesToTensor({kGray}, Target("FP32", {5, 7, 9}), {}),
              StatusIs(kInvalid, HasSubstr("5 channels")));
  EXPECT_THAT(PicturesToTensor({kGray}, Target("FP32", {1, 1, 1, 1, 2}), {}),
              StatusIs(kInvalid, HasSubstr("1 to 3 dims")));
  EXPECT_THAT(PicturesToTensor({kGray}, Target("FP32", {}), {}),
              StatusIs(kInvalid));
  const Image other{3, 3, 1, std::vector<uint8_t>(9, 0)};
  EXPECT_THAT(
      PicturesToTensor({kGray, other}, Target("UINT8", {-1, 1, -1, -1}), {}),
      StatusIs(kInvalid, HasSubstr("differ in size; give --resize")));
}

TEST(ImageTensorTest, ParsesItsFlags) {
  PixelOptions options;
  FlagTable flags;
  AddPixelFlags(flags, options);
  ASSERT_THAT(
      flags.Parse({"--scale", "1/255", "--mean", "0.5,0.25,1/4", "--std=2",
                   "--layout=NHWC", "--resize=224x112", "--gray"}),
      IsOk());
  EXPECT_DOUBLE_EQ(options.scale, 1.0 / 255);
  EXPECT_THAT(options.mean, ElementsAre(0.5, 0.25, 0.25));
  EXPECT_THAT(options.std, ElementsAre(2));
  EXPECT_EQ(options.layout, Layout::kNhwc);
  EXPECT_EQ(options.resize, std::pair(224, 112));
  EXPECT_TRUE(options.gray);
  for (const char* bad :
       {"--scale=x", "--scale=1/0", "--std=0", "--mean=", "--layout=CHW",
        "--resize=224", "--resize=0x5", "--resize=axb"}) {
    EXPECT_THAT(flags.Parse({bad}), StatusIs(kInvalid)) << bad;
  }
}

}  // namespace
}  // namespace reprise::client
