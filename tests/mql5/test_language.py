"""Compiled programs mean what MQL5 means, and die where a terminal would stop them."""

import subprocess
import sys
from pathlib import Path

import pytest

from mql5.host.compiler import BuildError, Built, Compiler
from mql5.host.library import Died
from mql5.host.program import Program
from mql5.support import build, program, terminal, tree

# ruff: noqa: E501  a line and its answer belong on one line

# Every line prints one answer; what it has to be stands behind it.
LANGUAGE = """
enum ENUM_DAY { DAY_ONE=1, DAY_TWO, DAY_FIVE=5 };
union Bits { double number; long whole; };
struct Pair
  {
   int               first;
   double            second;
   string            name;
   int               many[3];
   double            Sum(void) const { return(first+second); }
  };
class CBase
  {
protected:
   int               m_x;
public:
                     CBase(void) : m_x(7) {}
   virtual int       Get(void) const { return(m_x); }
  };
class CChild : public CBase
  {
public:
   virtual int       Get(void) const override;
  };
int CChild::Get(void) const { return(m_x*2); }
int Later(const int x,const int y=3);
int Ask(const CBase &what) { return(what.Get()); }
void Fill(int &array[],const int n)
  {
   ArrayResize(array,n);
   for(int i=0, j=n; i<n; i++, j--)
      array[i]=i*10+j;
  }
int Counter(void)
  {
   static int calls=0;
   calls++;
   return(calls);
  }
string Where(void) { return(__FUNCTION__); }
void OnStart()
  {
   Print(7/2," ",-7/2," ",-7%3," ",7.0/2);                        //= 3 -3 -1 3.5
   Print(1<<4|1," ",6&3," ",5^1," ",~0);                           //= 17 2 4 -1
   Print(true," ",(int)3.9," ",(int)-3.9," ",(uchar)258);          //= true 3 -3 2
   Print('A'," ",D'1970.01.02'," ",(long)D'1970.01.02 01:00');     //= 65 1970.01.02 00:00:00 90000
   Print(DAY_TWO," ",EnumToString(DAY_FIVE)," ",EnumToString(PERIOD_H1)); //= 2 DAY_FIVE PERIOD_H1
   Pair pair={};
   Print(pair.first,pair.second,"[",pair.name,"]",pair.many[2]);   //= 00[]0
   pair.first=2;
   pair.second=0.5;
   pair.many[1]=9;
   Pair other=pair;
   other.many[1]=1;
   Print(pair.Sum()," ",pair.many[1]," ",other.many[1]);           //= 2.5 9 1
   CBase base;
   CChild child;
   Print(Ask(base)," ",Ask(child));                                //= 7 14
   Print(Later(1)," ",Later(1,1));                                 //= 4 2
   int a[];
   Fill(a,4);
   Print(ArraySize(a)," ",a[0]," ",a[3]);                          //= 4 4 31
   ArraySetAsSeries(a,true);
   Print(a[0]," ",a[3]," ",ArrayMaximum(a)," ",ArrayMinimum(a));    //= 31 4 0 3
   double m[][2]={{1,2},{3,4},{5,6}};
   Print(ArraySize(m)," ",ArrayRange(m,0)," ",m[2][1]);            //= 6 3 6
   int few[5]={1,2};
   Print(few[1],few[4]);                                           //= 20
   Counter();
   Counter();
   Print(Counter());                                               //= 3
   Bits bits;
   bits.number=1.0;
   Print(bits.whole);                                              //= 4607182418800017408
   string text="a,b,,c";
   string parts[];
   int count=StringSplit(text,',',parts);
   Print(count," ",parts[3]," ",StringFind(text,"b")," ",text[2]); //= 4 c 2 98
   text+="!";
   Print(StringSubstr(text,4)," ",StringLen(text));                //= ,c! 7
   count=StringReplace(text,",",";");
   Print(count," ",text);                                          //= 3 a;b;;c!
   Print(1.0/3.0," ",0.1," ",1e20," ",(float)0.1);                 //= 0.3333333333333333 0.1 1e+20 0.100000001
   PrintFormat("%5.2f|%-4d|%04d|%s|%I64d|%u|%g|%%|%x",3.14159,7,42,"s",D'1970.01.01 00:01',5,0.25,255); //=  3.14|7   |0042|s|60|5|0.25|%|ff
   Print(DoubleToString(1.005,2)," ",NormalizeDouble(1.23456,3)," ",IntegerToString(7,3,'0')); //= 1.00 1.235 007
   Print(StringToDouble("2.5x")," ",StringToInteger("12a")," ",(string)7," ",(double)"1.5"); //= 2.5 12 7 1.5
   Print(MathMax(2,3)," ",MathAbs(-2.5)," ",MathRound(2.5)," ",MathFloor(-0.5)," ",MathMod(7,4)); //= 3 2.5 3 -1 3
   MqlDateTime when;
   TimeToStruct(D'2024.02.29 13:14:15',when);
   Print(when.day_of_week," ",when.day_of_year," ",when.hour," ",StructToTime(when)); //= 4 59 13 2024.02.29 13:14:15
   Print(TimeToString(D'2024.02.29 13:14:15',TIME_DATE)," ",StringToTime("2024.02.29 13:14")); //= 2024.02.29 2024.02.29 13:14:00
   vectorf v(3);
   v.Fill(2.0f);
   v[1]=5.0f;
   Print(v.Sum()," ",v.Max()," ",v.ArgMax()," ",v.Mean());          //= 9 5 1 3
   matrix x(2,3);
   x.Fill(1.0);
   x[1][2]=4.0;
   matrix y=x.Transpose();
   Print(y.Rows(),y.Cols()," ",y[2][1]," ",x.Row(1).Sum());         //= 32 4 6
   uchar bytes[];
   uchar key[];
   uchar digest[];
   StringToCharArray("abc",bytes,0,3);
   count=CryptEncode(CRYPT_HASH_SHA256,bytes,key,digest);
   Print(count," ",digest[0]," ",digest[31]);                      //= 32 186 173
   switch(few[0])
     {
      case 1:
         Print("one");                                             //= one
         break;
      default:
         Print("other");
     }
   int n=0;
   do
     {
      n++;
      if(n==2)
         continue;
     }
   while(n<4);
   Print(n," ",Where());                                           //= 4 Where
   string nothing=NULL;
   Print(nothing==NULL," ",nothing=="");                            //= true true
   color red=C'255,0,0';
   Print((int)red," ",(red==clrRed ? "red" : "not"));              //= 255 red
  }
int Later(const int x,const int y) { return(x+y); }
"""


def test_the_language_means_what_it_means_in_a_terminal(compiler: Compiler, tmp_path: Path) -> None:
    expected = [line.split("//= ")[1] for line in LANGUAGE.splitlines() if "//= " in line]
    one = program(build(compiler, tmp_path, LANGUAGE), terminal(tmp_path))
    one.script()
    assert one.log == expected


DEATHS = """
input int InpCase=0; // Which
double ExtNever[];
int Zero(void) { return(InpCase-InpCase); }
int Deep(const int n) { return(n); }
void OnTick()
  {
   double a[];
   double b[3];
   ArrayResize(a,2);
   MqlTick tick;
   vector v(2);
   matrix m(2,2);
   string form="%d %d";
   double x;
   switch(InpCase)
     {
      case 1: Print(a[2]); break;                         // index 2 out of range
      case 2: Print(a[Zero()-1]); break;                  // index -1 out of range
      case 3: Print(b[1]/2.0); break;                     // a number that is none
      case 4: Print(tick.bid>1.0); break;                 // a number that is none
      case 5: Print(7/Zero()); break;                     // division by zero
      case 6: Print(1.0/Zero()); break;                   // division by zero
      case 7: Print(MathLog(Zero())); break;              // division by zero
      case 8: Print(MathSqrt(Zero()-1.0)); break;         // a number that is none
      case 9: Print(MathExp(1000.0+Zero())); break;       // an overflow
      case 10: ArrayResize(b,5); break;                   // fixed array
      case 11: Print(StringFormat(form,1)); break;        // more places than arguments
      case 12: Print(StringFormat(form,1,"a")); break;    // does not fit its argument
      case 13: while(Deep(1)==1) Deep(2); break;          // a loop without an end
      case 14: Print(v[2]); break;                        // out of range
      case 15: Print(m[2][0]); break;                     // row 2 out of range
      case 16: Print(ExtNever[0]); break;                 // index 0 out of range, size 0
      case 17: Print(StringSubstr("abc",0)[3]); break;    // string index 3 out of range
      case 18: Print((int)(1e300*(1.0+Zero()))); break;   // a number that is none
      case 19: ArrayResize(a,Zero()-1); break;            // -1 elements
      case 20: Print((v+vector::Zeros(3)).Sum()); break;  // different sizes
      case 21: NormalizeDouble(1.5,9); break;             // 0 to 8 digits
      case 22: Print(x*2.0); break;                       // a number that is none
      default: Print(MathIsValidNumber(b[1])," ",MathIsValidNumber(1.0)); break;
     }
  }
"""


@pytest.fixture(scope="module")
def deaths(compiler: Compiler, tmp_path_factory: pytest.TempPathFactory) -> Built:
    return build(compiler, tmp_path_factory.mktemp("deaths"), DEATHS)


def test_a_program_dies_at_its_line_and_another_one_lives(deaths: Built, tmp_path: Path) -> None:
    cases = [line for line in DEATHS.splitlines() if line.strip().startswith("case ")]
    lines = DEATHS.splitlines()
    desktop = terminal(tmp_path)
    for number, line in enumerate(cases, start=1):
        one = program(deaths, desktop, InpCase=number)
        place, _, said = _death(one).partition(": ")
        assert place.endswith(f"Test.mq5:{lines.index(line) + 1}"), (line, place)
        wanted = line.split("// ")[1]
        assert wanted in said, (line, said)
    alive = program(deaths, desktop)
    alive.tick()
    assert alive.log == ["false true"]


def _death(one: Program) -> str:
    try:
        one.tick()
    except Died as died:
        return str(died)
    return ""


# A body that only the C++ compiler can refuse -> a part of what it says.
WARNED = {
    "double d=1.5; int i=d; Print(i);": "conversion",
    "long w=5; double d=w; Print(d);": "conversion",
    "int i=1; ENUM_ORDER_TYPE t=i; Print(t);": "invalid conversion",
    "int i=2; uint u=3; Print(i<u);": "sign",
    "int i=1; if(i>0) { int i=2; Print(i); }": "shadows",
    "const int i=1; i=2; Print(i);": "read-only",
    'PrintFormat("%d",1.5);': "format does not fit",
    'PrintFormat("%d %s",1);': "format does not fit",
    'string s="a"+1; Print(s);': "invalid user-defined conversion",
    'int i="a"; Print(i);': "cannot convert",
    "ENUM_ORDER_TYPE t=ORDER_FILLING_FOK; Print(t);": "cannot convert",
    "OnnxTypeInfo o; Print(o.type==ONNX_DATA_TYPE_FLOAT);": "comparison between",
    "int shape[]={1,2}; OnnxSetInputShape(1,0,shape);": "a shape is an array of long",
    "MqlTick t; Print(t.close);": "has no member named",
    "double a[]; int i=a; Print(i);": "cannot convert",
    "if(1==1) Print(1) ; InpLots=2.0;": "read-only",
    "int a=1; int b=2; if(a==1 || a==2 && b==1) Print(a);": "parentheses",
}


def test_gxx_refuses_what_the_grammar_can_not_see(compiler: Compiler, tmp_path: Path) -> None:
    bodies = [f"void F{n}(void) {{ {text} }}" for n, text in enumerate(WARNED)]
    text = "\n".join(["input double InpLots=0.1; // Lots", *bodies, "void OnTick() {}"])
    root = tree(tmp_path, Test=text)
    with pytest.raises(BuildError) as refused:
        compiler.check(root / "Experts" / "Test.mq5", root)
    for number, (body, said) in enumerate(WARNED.items(), start=2):
        at_line = [one for one in refused.value.errors if f"Test.mq5:{number}:" in one]
        assert any(said in one for one in at_line), (body, at_line)


def test_the_optimiser_sees_a_value_that_was_not_set(compiler: Compiler, tmp_path: Path) -> None:
    text = "void OnTick() { int x; if(PositionsTotal()>0) x=OrdersTotal(); Print(x); }"
    root = tree(tmp_path, Test=text)
    with pytest.raises(BuildError, match="may be used uninitialized"):
        compiler.build(root / "Experts" / "Test.mq5", root, is_thorough=True)
    unset = "int F(const int x) { if(x>0) return(1); }\nvoid OnTick() { Print(F(1)); }"
    root = tree(tmp_path, Test=unset)
    with pytest.raises(BuildError, match=r"control reaches end|no return"):
        compiler.build(root / "Experts" / "Test.mq5", root)


LEAVER = """
class CLeaver
  {
public:
                    ~CLeaver(void) { Print("after the end"); }
  };
CLeaver ExtLeaver;
void OnStart() { Print("here"); }
"""
CHILD = """
import sys
from pathlib import Path
sys.path[:0] = {paths!r}
from mql5.host.compiler import Compiler
from mql5.support import build, program, terminal
folder = Path({folder!r})
one = program(build(Compiler(Path({made!r})), folder, {text!r}), terminal(folder))
one.script()
assert one.log == ["here"]
"""


def test_globals_are_destroyed_when_the_process_ends(compiler: Compiler, tmp_path: Path) -> None:
    build(compiler, tmp_path, LEAVER)
    folders = [str(Path(__file__).parents[1]), str(Path(__file__).parents[2])]
    child = CHILD.format(
        paths=folders, folder=str(tmp_path), made=str(compiler.folder), text=LEAVER
    )
    done = subprocess.run(
        [sys.executable, "-c", child], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
