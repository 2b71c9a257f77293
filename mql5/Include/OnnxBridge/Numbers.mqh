//+------------------------------------------------------------------+
//| Numbers.mqh: rounding and sums, to the bit as the daemon does it |
//| Twin: bridge/trade/build.py (to_tick), Python's round, numpy sum |
//+------------------------------------------------------------------+
#ifndef ONNXBRIDGE_NUMBERS_MQH
#define ONNXBRIDGE_NUMBERS_MQH

// From here on every double is a whole number.
#define NUMBERS_WHOLE_FROM 4503599627370496.0
// Longest run that is summed in one go; longer ones are halved first.
#define NUMBERS_BLOCK 128
//+------------------------------------------------------------------+
//| True when the value is not a number; infinity is one             |
//+------------------------------------------------------------------+
bool IsNan(const double value)
  {
   return(!MathIsValidNumber(value) && value!=value);
  }
//+------------------------------------------------------------------+
//| The smaller one; the first where they can't be compared          |
//+------------------------------------------------------------------+
double MinOf(const double first,const double second)
  {
   if(IsNan(first) || IsNan(second))
      return(first);
   return(second<first ? second : first);
  }
//+------------------------------------------------------------------+
//| The larger one; the first where they can't be compared           |
//+------------------------------------------------------------------+
double MaxOf(const double first,const double second)
  {
   if(IsNan(first) || IsNan(second))
      return(first);
   return(second>first ? second : first);
  }
//+------------------------------------------------------------------+
//| The nearest whole number; of two as near, the even one           |
//+------------------------------------------------------------------+
double RoundEven(const double value)
  {
   if(!MathIsValidNumber(value) || MathAbs(value)>=NUMBERS_WHOLE_FROM)
      return(value);
   const double below=MathFloor(value);
   const double rest=value-below;
   if(rest<0.5)
      return(below);
   if(rest>0.5)
      return(below+1.0);
   return(MathMod(below,2.0)==0.0 ? below : below+1.0);
  }
//+------------------------------------------------------------------+
//| 10 to the power of digits, exact for 0 to 22                     |
//+------------------------------------------------------------------+
double PowerOfTen(const int digits)
  {
   double power=1.0;
   for(int i=0; i<digits; i++)
      power*=10.0;
   return(power);
  }
//+------------------------------------------------------------------+
//| The value without the noise after so many digits                 |
//| Written out, since it has to be the same on every terminal.      |
//+------------------------------------------------------------------+
double RoundTo(const double value,const int digits)
  {
   const double power=PowerOfTen(digits);
   if(!MathIsValidNumber(value) || MathAbs(value)>=NUMBERS_WHOLE_FROM/power)
      return(value);
   return(RoundEven(value*power)/power);
  }
//+------------------------------------------------------------------+
//| The price on the nearest tick; 0.0 where there is none           |
//+------------------------------------------------------------------+
double ToTick(const double price,const double tick_size,const int digits)
  {
   if(!MathIsValidNumber(price) || !MathIsValidNumber(tick_size) || tick_size<=0.0)
      return(0.0);
   const double ticks=RoundEven(price/tick_size);
   return(RoundTo(ticks*tick_size,digits));
  }
//+------------------------------------------------------------------+
//| Sum of a block of at most NUMBERS_BLOCK values                   |
//+------------------------------------------------------------------+
double SumOfBlock(const double &values[],const int from,const int count)
  {
   double sum=0.0;
   int    done=0;
   if(count>=8)
     {
      double part[8];
      for(int j=0; j<8; j++)
         part[j]=values[from+j];
      const int whole=count-count%8;
      for(int i=8; i<whole; i+=8)
         for(int j=0; j<8; j++)
            part[j]+=values[from+i+j];
      sum=((part[0]+part[1])+(part[2]+part[3]))+((part[4]+part[5])+(part[6]+part[7]));
      done=whole;
     }
   for(int i=done; i<count; i++)
      sum+=values[from+i];
   return(sum);
  }
//+------------------------------------------------------------------+
//| Sum in the order in which numpy adds, so that means are equal    |
//+------------------------------------------------------------------+
double SumOf(const double &values[],const int from,const int count)
  {
   if(count<=NUMBERS_BLOCK)
      return(SumOfBlock(values,from,count));
   int half=count/2;
   half-=half%8;
   return(SumOf(values,from,half)+SumOf(values,from+half,count-half));
  }
//+------------------------------------------------------------------+
//| Text of a yes or no, as Python writes it                         |
//+------------------------------------------------------------------+
string YesNo(const bool value)
  {
   return(value ? "True" : "False");
  }
#endif
//+------------------------------------------------------------------+
