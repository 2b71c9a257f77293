//+------------------------------------------------------------------+
//| Structs and constants of the terminal, in MQL5 themselves: the   |
//| translator reads them before every program.                      |
//+------------------------------------------------------------------+
const int      WHOLE_ARRAY=-1;
const int      INVALID_HANDLE=-1;
const double   EMPTY_VALUE=1.7976931348623158e308;
const double   DBL_MAX=1.7976931348623158e308;
const double   DBL_MIN=2.2250738585072014e-308;
const double   DBL_EPSILON=2.2204460492503131e-16;
const float    FLT_MAX=3.402823466e38f;
const float    FLT_EPSILON=1.192092896e-07f;
const int      INT_MAX=2147483647;
const int      INT_MIN=-2147483647-1;
const uint     UINT_MAX=0xFFFFFFFF;
const long     LONG_MAX=9223372036854775807;
const ulong    ULONG_MAX=0xFFFFFFFFFFFFFFFF;
const double   M_PI=3.14159265358979323846;
const uint     CP_ACP=0;
const uint     CP_UTF8=65001;
const int      TIME_DATE=1;
const int      TIME_MINUTES=2;
const int      TIME_SECONDS=4;
const int      SYMBOL_FILLING_FOK=1;
const int      SYMBOL_FILLING_IOC=2;
const int      SYMBOL_FILLING_BOC=4;
const int      FILE_READ=1;
const int      FILE_WRITE=2;
const int      FILE_BIN=4;
const int      FILE_CSV=8;
const int      FILE_TXT=16;
const int      FILE_ANSI=32;
const int      FILE_UNICODE=64;
const int      FILE_SHARE_READ=128;
const int      FILE_SHARE_WRITE=256;
const int      FILE_REWRITE=512;
const int      FILE_COMMON=4096;
const ulong    ONNX_DEFAULT=0;
const ulong    ONNX_COMMON_FOLDER=4096;
const ulong    ONNX_NO_CONVERSION=32;
const ulong    ONNX_USE_CPU_ONLY=64;
const ulong    COPY_RATES_OPEN=1;
const ulong    COPY_RATES_HIGH=2;
const ulong    COPY_RATES_LOW=4;
const ulong    COPY_RATES_CLOSE=8;
const ulong    COPY_RATES_OHLC=15;
const ulong    COPY_RATES_VOLUME=16;
const ulong    COPY_RATES_SPREAD=32;
const ulong    COPY_RATES_TIME=64;
const ulong    COPY_RATES_VERTICAL=32768;
const int      REASON_PROGRAM=0;
const int      REASON_REMOVE=1;
const int      REASON_RECOMPILE=2;
const int      REASON_CHARTCHANGE=3;
const int      REASON_CHARTCLOSE=4;
const int      REASON_PARAMETERS=5;
const int      REASON_ACCOUNT=6;
const int      REASON_TEMPLATE=7;
const int      REASON_INITFAILED=8;
const int      REASON_CLOSE=9;
const int      ERR_SUCCESS=0;
const int      ERR_FILE_NOT_EXIST=5019;
const int      ERR_CANNOT_OPEN_FILE=5004;
const int      ERR_HISTORY_NOT_FOUND=4401;
const int      ERR_TRADE_SEND_FAILED=4756;
const ushort   ERR_USER_ERROR_FIRST=65535;
const color    clrNONE=0xFFFFFFFF;
const color    clrRed=C'255,0,0';
const color    clrGreen=C'0,128,0';
const color    clrBlue=C'0,0,255';
const color    clrGray=C'128,128,128';
const color    clrDodgerBlue=C'30,144,255';
const color    clrOrangeRed=C'255,69,0';

enum ENUM_INIT_RETCODE { INIT_SUCCEEDED=0, INIT_FAILED=1, INIT_PARAMETERS_INCORRECT=32767, INIT_AGENT_NOT_SUITABLE=32768 };
enum ENUM_DAY_OF_WEEK { SUNDAY, MONDAY, TUESDAY, WEDNESDAY, THURSDAY, FRIDAY, SATURDAY };
enum ENUM_CRYPT_METHOD { CRYPT_BASE64, CRYPT_AES128, CRYPT_AES256, CRYPT_DES, CRYPT_HASH_SHA1, CRYPT_HASH_SHA256, CRYPT_HASH_MD5, CRYPT_ARCH_ZIP };
enum ENUM_FILE_POSITION { SEEK_SET, SEEK_CUR, SEEK_END };
enum ENUM_SERIES_INFO_INTEGER { SERIES_BARS_COUNT, SERIES_FIRSTDATE, SERIES_LASTBAR_DATE, SERIES_SYNCHRONIZED=6 };
enum ENUM_PROGRAM_TYPE { PROGRAM_SCRIPT=1, PROGRAM_EXPERT, PROGRAM_INDICATOR, PROGRAM_SERVICE };
enum ENUM_INDEXBUFFER_TYPE { INDICATOR_DATA, INDICATOR_COLOR_INDEX, INDICATOR_CALCULATIONS };
enum ENUM_CUSTOMIND_PROPERTY_STRING { INDICATOR_SHORTNAME, INDICATOR_LEVELTEXT };
enum ENUM_CUSTOMIND_PROPERTY_INTEGER { INDICATOR_DIGITS, INDICATOR_HEIGHT, INDICATOR_LEVELS, INDICATOR_LEVELCOLOR, INDICATOR_LEVELSTYLE, INDICATOR_LEVELWIDTH };
enum ENUM_CUSTOMIND_PROPERTY_DOUBLE { INDICATOR_MINIMUM, INDICATOR_MAXIMUM, INDICATOR_LEVELVALUE };
enum ENUM_PLOT_PROPERTY_INTEGER { PLOT_ARROW, PLOT_ARROW_SHIFT, PLOT_DRAW_BEGIN, PLOT_DRAW_TYPE, PLOT_SHOW_DATA, PLOT_SHIFT, PLOT_LINE_STYLE, PLOT_LINE_WIDTH, PLOT_COLOR_INDEXES, PLOT_LINE_COLOR };
enum ENUM_PLOT_PROPERTY_DOUBLE { PLOT_EMPTY_VALUE };
enum ENUM_PLOT_PROPERTY_STRING { PLOT_LABEL };
enum ENUM_DRAW_TYPE { DRAW_NONE, DRAW_LINE, DRAW_SECTION, DRAW_HISTOGRAM, DRAW_HISTOGRAM2, DRAW_ARROW, DRAW_ZIGZAG, DRAW_FILLING, DRAW_BARS, DRAW_CANDLES, DRAW_COLOR_LINE };
enum ENUM_LINE_STYLE { STYLE_SOLID, STYLE_DASH, STYLE_DOT, STYLE_DASHDOT, STYLE_DASHDOTDOT };
enum ENUM_ONNX_TYPE { ONNX_TYPE_UNKNOWN, ONNX_TYPE_TENSOR, ONNX_TYPE_SEQUENCE, ONNX_TYPE_MAP, ONNX_TYPE_OPAQUE, ONNX_TYPE_SPARSETENSOR };
enum ENUM_ONNX_DATA_TYPE { ONNX_DATA_TYPE_UNDEFINED, ONNX_DATA_TYPE_FLOAT, ONNX_DATA_TYPE_UINT8, ONNX_DATA_TYPE_INT8, ONNX_DATA_TYPE_UINT16, ONNX_DATA_TYPE_INT16, ONNX_DATA_TYPE_INT32, ONNX_DATA_TYPE_INT64, ONNX_DATA_TYPE_STRING, ONNX_DATA_TYPE_BOOL, ONNX_DATA_TYPE_FLOAT16, ONNX_DATA_TYPE_DOUBLE, ONNX_DATA_TYPE_UINT32, ONNX_DATA_TYPE_UINT64, ONNX_DATA_TYPE_COMPLEX64, ONNX_DATA_TYPE_COMPLEX128, ONNX_DATA_TYPE_BFLOAT16 };
enum ENUM_STATISTICS { STAT_INITIAL_DEPOSIT, STAT_PROFIT, STAT_GROSS_PROFIT, STAT_GROSS_LOSS, STAT_TRADES, STAT_PROFIT_TRADES, STAT_LOSS_TRADES, STAT_PROFIT_FACTOR, STAT_EXPECTED_PAYOFF, STAT_DEALS, STAT_EQUITY_DD, STAT_EQUITYDD_PERCENT, STAT_EQUITY_DDREL_PERCENT, STAT_BALANCE_DD, STAT_BALANCEDD_PERCENT, STAT_BALANCE_DDREL_PERCENT, STAT_RECOVERY_FACTOR, STAT_SHARPE_RATIO };
enum ENUM_MQL_INFO_INTEGER { MQL_PROGRAM_TYPE, MQL_DLLS_ALLOWED, MQL_TRADE_ALLOWED, MQL_SIGNALS_ALLOWED, MQL_DEBUG, MQL_PROFILER, MQL_TESTER, MQL_FORWARD, MQL_OPTIMIZATION, MQL_VISUAL_MODE, MQL_FRAME_MODE };
enum ENUM_MQL_INFO_STRING { MQL_PROGRAM_NAME, MQL_PROGRAM_PATH };

struct MqlDateTime
  {
   int               year;
   int               mon;
   int               day;
   int               hour;
   int               min;
   int               sec;
   int               day_of_week;
   int               day_of_year;
  };

struct MqlTick
  {
   datetime          time;
   double            bid;
   double            ask;
   double            last;
   ulong             volume;
   long              time_msc;
   uint              flags;
   double            volume_real;
  };

struct MqlRates
  {
   datetime          time;
   double            open;
   double            high;
   double            low;
   double            close;
   long              tick_volume;
   int               spread;
   long              real_volume;
  };

struct MqlTradeRequest
  {
   ENUM_TRADE_REQUEST_ACTIONS action;
   ulong             magic;
   ulong             order;
   string            symbol;
   double            volume;
   double            price;
   double            stoplimit;
   double            sl;
   double            tp;
   ulong             deviation;
   ENUM_ORDER_TYPE   type;
   ENUM_ORDER_TYPE_FILLING type_filling;
   ENUM_ORDER_TYPE_TIME type_time;
   datetime          expiration;
   string            comment;
   ulong             position;
   ulong             position_by;
  };

struct MqlTradeResult
  {
   uint              retcode;
   ulong             deal;
   ulong             order;
   double            volume;
   double            price;
   double            bid;
   double            ask;
   string            comment;
   uint              request_id;
   int               retcode_external;
  };

struct MqlTradeCheckResult
  {
   uint              retcode;
   double            balance;
   double            equity;
   double            profit;
   double            margin;
   double            margin_free;
   double            margin_level;
   string            comment;
  };

struct OnnxTensorTypeInfo
  {
   ENUM_ONNX_DATA_TYPE data_type;
   long              dimensions[];
  };

struct OnnxTypeInfo
  {
   ENUM_ONNX_TYPE    type;
   OnnxTensorTypeInfo tensor;
  };
